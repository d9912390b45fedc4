import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { toCommentedStoryEventSubject, lockComment, toComment } from '../../data/comments.ts';
import { deleteReaction, insertReaction, listReactions } from '../../data/reactions.ts';
import { applyReaction } from '../../rules/reactions.ts';

/** The maximum number of different emojis under a comment. */
const maxEmojisPerComment = 50;

export const react = handle(
  boardRegistry.comments.react,
  async ({ params, caller, db, access, emit, refuse }) => {
    const { commentId, emoji, on } = params;
    const { memberId } = caller;
    const [comment, before, { at }] = await Promise.all([
      lockComment(db, commentId),
      listReactions(db, memberId, commentId),
      access(),
    ]);
    if (comment.deleted_at !== null) throw refuse('tombstone');
    const after = applyReaction(before, emoji, on);
    if (after.length > before.length && after.length > maxEmojisPerComment)
      throw refuse('limit_exceeded', { limit: maxEmojisPerComment });
    if (after !== before) {
      const given = { commentId, memberId, emoji, at };
      db.deferToCommit(on ? insertReaction(given) : deleteReaction(given));
      emit('comment.reacted', toCommentedStoryEventSubject(comment), { commentId, emoji, on });
    }
    return { comment: toComment(comment, after) };
  },
);
