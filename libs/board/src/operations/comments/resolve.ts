import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { toCommentedStoryEventSubject, comments, lockComment, toComment } from '../../data/comments.ts';
import { listReactions } from '../../data/reactions.ts';

export const resolve = handle(
  boardRegistry.comments.resolve,
  async ({ params, caller, db, access, emit, refuse }) => {
    const { commentId, resolved } = params;
    const [comment, reactions, { at }] = await Promise.all([
      lockComment(db, commentId),
      listReactions(db, caller.memberId, commentId),
      access(),
    ]);
    if (comment.parent_id !== null) throw refuse('not_a_root', { rootId: comment.parent_id });
    if ((comment.resolved_at !== null) === resolved) return { comment: toComment(comment, reactions) };

    const resolution = resolved
      ? { resolved_at: at, resolved_by: caller.actor }
      : { resolved_at: null, resolved_by: null };
    const changed = comments.save(db, comment, resolution, at);
    emit(resolved ? 'comment.resolved' : 'comment.reopened', toCommentedStoryEventSubject(comment), {
      commentId,
    });
    return { comment: toComment(changed, reactions) };
  },
);
