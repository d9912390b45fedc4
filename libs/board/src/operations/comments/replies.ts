import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listReplies } from '../../data/comment-threads.ts';

export const replies = handle(registry.comments.replies, ({ params, caller, db }) =>
  listReplies(db, caller.memberId, params),
);
