import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { add } from './add.ts';
import { list } from './list.ts';
import { listForUser } from './listForUser.ts';
import { remove } from './remove.ts';
import { setVerdict } from './setVerdict.ts';

export const reviewers = {
  add,
  remove,
  list,
  listForUser,
  setVerdict,
} satisfies HandlersOf<BoardRegistry['reviewers']>;
