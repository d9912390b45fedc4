import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listPrompts } from '../../../data/prompts.ts';

export const list = handle(boardRegistry.prompts.org.list, ({ params, db }) => listPrompts(db, null, params));
