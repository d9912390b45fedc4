import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { archive } from './archive.ts';
import { create } from './create.ts';
import { list } from './list.ts';
import { reorder } from './reorder.ts';
import { update } from './update.ts';

export const boardColumns = { create, list, update, reorder, archive } satisfies HandlersOf<
  BoardRegistry['boardColumns']
>;
