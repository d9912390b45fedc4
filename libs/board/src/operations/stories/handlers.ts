import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { create } from './create.ts';
import { deleteOperation } from './delete.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { listDeleted } from './listDeleted.ts';
import { reorder } from './reorder.ts';
import { restore } from './restore.ts';
import { search } from './search.ts';
import { select } from './select.ts';
import { subscribe } from './subscribe.ts';
import { update } from './update.ts';
import { updateGitMeta } from './updateGitMeta.ts';
import { updateMany } from './updateMany.ts';
import { updateStatus } from './updateStatus.ts';
import { updateUpstream } from './updateUpstream.ts';

export const stories = {
  create,
  get,
  list,
  update,
  updateStatus,
  reorder,
  select,
  subscribe,
  updateGitMeta,
  updateUpstream,
  delete: deleteOperation,
  restore,
  listDeleted,
  updateMany,
  search,
} satisfies HandlersOf<BoardRegistry['stories']>;
