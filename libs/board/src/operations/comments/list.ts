import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listThreads } from '../../data/comment-threads.ts';

export const list = handle(boardRegistry.comments.list, ({ params, targetId, caller, db }) =>
  listThreads(db, caller.memberId, targetId, params),
);
