import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listReplies } from '../../data/comment-threads.ts';

export const replies = handle(boardRegistry.comments.replies, ({ params, caller, db }) =>
  listReplies(db, caller.memberId, params),
);
