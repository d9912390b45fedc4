import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { create } from './create.ts';
import { deleteOperation } from './delete.ts';
import { list } from './list.ts';
import { react } from './react.ts';
import { replies } from './replies.ts';
import { resolve } from './resolve.ts';
import { update } from './update.ts';

export const comments = {
  create,
  list,
  replies,
  update,
  delete: deleteOperation,
  react,
  resolve,
} satisfies HandlersOf<BoardRegistry['comments']>;
