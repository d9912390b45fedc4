import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listEffectivePrompts, listPrompts } from '../../../data/prompts.ts';

export const list = handle(registry.prompts.project.list, ({ params, caller, db }) =>
  (params.effective ? listEffectivePrompts : listPrompts)(db, caller.orgId, params.projectId, params),
);
