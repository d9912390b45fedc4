import { projectRank as rankOf } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { handle, notFound } from '@muster/runtime';
import {
  toCommentedStoryEventSubject,
  comments,
  deleteAttachmentsOfComment,
  deleteComment,
  lockThread,
} from '../../data/comments.ts';
import { deleteReactions } from '../../data/reactions.ts';
import { isAuthor } from '../../rules/comment-rights.ts';

// `delete` is a reserved word.
export const deleteOperation = handle(
  boardRegistry.comments.delete,
  async ({ params, caller, db, access, projectRank, requireGround, emit }) => {
    const { commentId } = params;
    const [{ comment, root, hasOtherReplies }, { at }, rank] = await Promise.all([
      lockThread(db, commentId),
      access(),
      projectRank(),
    ]);
    if (comment.deleted_at !== null) throw notFound();
    await requireGround(
      isAuthor(comment.author, caller) && 'author',
      rank >= rankOf('lead') && 'projectLead',
    );

    if (comment.id === root.id && hasOtherReplies) {
      comments.save(db, comment, { body: null, mentions: [], agent_mentions: [], deleted_at: at }, at);
      db.deferToCommit(deleteReactions(commentId));
      db.deferToCommit(deleteAttachmentsOfComment(commentId));
    } else {
      // A tombstone is a deleted root whose replies remain. It is deleted together with the last reply.
      const tombstoneIsDone = root.deleted_at !== null && !hasOtherReplies;
      db.deferToCommit(deleteComment(tombstoneIsDone ? root.id : commentId));
    }
    emit('comment.deleted', toCommentedStoryEventSubject(comment), { commentId });
    return { deleted: true as const };
  },
);
