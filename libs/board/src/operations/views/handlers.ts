import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { create } from './create.ts';
import { deleteOperation } from './delete.ts';
import { list } from './list.ts';
import { update } from './update.ts';

export const views = { create, update, delete: deleteOperation, list } satisfies HandlersOf<
  BoardRegistry['views']
>;
