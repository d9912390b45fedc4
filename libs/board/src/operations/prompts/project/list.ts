import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listEffectivePrompts, listPrompts } from '../../../data/prompts.ts';

export const list = handle(boardRegistry.prompts.project.list, ({ params, targetId, db }) =>
  (params.effective ? listEffectivePrompts : listPrompts)(db, targetId, params),
);
