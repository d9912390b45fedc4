import { projectRank as rankOf, registry } from '@muster/registry';
import { forbidden, handle, notFound } from '@muster/runtime';
import { aboutStoryOf, changedComment, deleteComment, lockThread, setComment } from '../../data/comments.ts';
import { deleteReactions } from '../../data/reactions.ts';
import { isAuthor } from '../../rules/comment-rights.ts';

// `delete` is a reserved word.
export const deleteOperation = handle(
  registry.comments.delete,
  async ({ params, caller, db, access, projectRank, emit }) => {
    const { commentId } = params;
    const { orgId } = caller;
    const [{ comment, root, hasOthers }, { at }, rank] = await Promise.all([
      lockThread(db, orgId, commentId),
      access(),
      projectRank(),
    ]);
    if (comment.deleted_at !== null) throw notFound();
    if (!isAuthor(comment.author, caller) && rank < rankOf('lead')) {
      throw forbidden('not_the_author', 'Only its author or a lead of the project may delete a comment.');
    }

    if (comment.id === root.id && hasOthers) {
      db.later(setComment(orgId, changedComment(comment, { body: null, mentions: [], deleted_at: at }, at)));
      db.later(deleteReactions(orgId, commentId));
    } else {
      // A tombstone is kept for its replies; with the last of them it goes too.
      const tombstoneIsDone = root.deleted_at !== null && !hasOthers;
      db.later(deleteComment(orgId, tombstoneIsDone ? root.id : commentId));
    }
    emit('comment.deleted', aboutStoryOf(comment), { commentId });
    return { deleted: true as const };
  },
);
