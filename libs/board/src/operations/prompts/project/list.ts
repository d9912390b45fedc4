import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listEffectivePrompts, listPrompts } from '../../../data/prompts.ts';

export const list = handle(registry.prompts.project.list, ({ params, db }) =>
  (params.effective ? listEffectivePrompts : listPrompts)(db, params.projectId, params),
);
