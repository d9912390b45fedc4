import { registry } from '@muster/registry';
import { forbidden, handle } from '@muster/runtime';
import {
  aboutStoryOf,
  changedComment,
  findMentioned,
  lockComment,
  setComment,
  toComment,
} from '../../data/comments.ts';
import { listReactions } from '../../data/reactions.ts';
import { isAuthor } from '../../rules/comment-rights.ts';
import { mentionedHandles } from '../../rules/mentions.ts';

export const update = handle(
  registry.comments.update,
  async ({ params, caller, db, access, emit, refuse }) => {
    const { commentId, body, expectedVersion } = params;
    const { orgId } = caller;
    const [comment, reactions, mentions, { at }] = await Promise.all([
      lockComment(db, orgId, commentId),
      listReactions(db, orgId, caller.memberId, commentId),
      findMentioned(db, orgId, { ofComment: commentId }, mentionedHandles(body)),
      access(),
    ]);
    if (!isAuthor(comment.author, caller))
      throw forbidden('not_the_author', 'Only its author may edit a comment.');
    if (comment.deleted_at !== null) throw refuse('tombstone');
    if (expectedVersion !== undefined && expectedVersion !== comment.version) {
      throw refuse('version_mismatch', { currentVersion: comment.version });
    }
    if (body === comment.body) return { comment: toComment(comment, reactions) };

    const changed = changedComment(comment, { body, mentions, edited_at: at }, at);
    db.later(setComment(orgId, changed));
    // Who was mentioned before has been told.
    const mentionedAnew = mentions.filter((memberId) => !comment.mentions.includes(memberId));
    emit('comment.updated', aboutStoryOf(comment), { commentId, mentions: mentionedAnew });
    return { comment: toComment(changed, reactions) };
  },
);
