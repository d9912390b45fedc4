import { requireVersion } from '@muster/driver';
import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import {
  toCommentedStoryEventSubject,
  comments,
  findMentionedIds,
  lockComment,
  toComment,
} from '../../data/comments.ts';
import { listReactions } from '../../data/reactions.ts';
import { isAuthor } from '../../rules/comment-rights.ts';
import { findMentionedHandles } from '../../rules/mentions.ts';

export const update = handle(
  boardRegistry.comments.update,
  async ({ params, caller, db, access, requireGround, emit, refuse }) => {
    const { commentId, body, expectedVersion } = params;
    const [comment, reactions, mentioned, { at }] = await Promise.all([
      lockComment(db, commentId),
      listReactions(db, caller.memberId, commentId),
      findMentionedIds(db, caller.memberId, { ofComment: commentId }, findMentionedHandles(body)),
      access(),
    ]);
    await requireGround(isAuthor(comment.author, caller) && 'author');
    if (comment.deleted_at !== null) throw refuse('tombstone');
    requireVersion(comment, expectedVersion);
    if (body === comment.body) return { comment: toComment(comment, reactions) };

    const { members: mentions, agents: agent_mentions } = mentioned;
    const mentionedAnew = [...mentions, ...agent_mentions].filter((id) => !comment.told.includes(id));
    const told = [...comment.told, ...mentionedAnew];
    const changed = comments.save(db, comment, { body, mentions, agent_mentions, told, edited_at: at }, at);
    // Members and agents whom an earlier version mentioned were already notified.
    emit('comment.updated', toCommentedStoryEventSubject(comment), { commentId, mentions: mentionedAnew });
    return { comment: toComment(changed, reactions) };
  },
);
