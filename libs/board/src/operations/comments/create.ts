import { registry } from '@muster/registry';
import { handle, pathNotFound } from '@muster/runtime';
import { comments, findMentionedMemberIds, findParentComment, toComment } from '../../data/comments.ts';
import { findMember, requireParticipant } from '../../data/participants.ts';
import { toStoryEventSubject } from '../../data/stories.ts';
import { canSeeStory, getStoryForEvents } from '../../data/story-topics.ts';
import { findMentionedHandles } from '../../rules/mentions.ts';

export const create = handle(
  registry.comments.create,
  async ({ params, targetId, caller, db, access, emit, refuse }) => {
    const { parentId, directedTo, body, anchor } = params;
    const [story, { at }, parent, addressee, mentions] = await Promise.all([
      getStoryForEvents(db, targetId),
      access(),
      parentId === undefined ? undefined : findParentComment(db, parentId),
      directedTo === undefined ? undefined : findMember(db, directedTo),
      findMentionedMemberIds(db, { id: targetId }, findMentionedHandles(body)),
    ]);
    if (directedTo !== undefined) requireParticipant(addressee, refuse, 'directedTo');
    if (anchor !== undefined && anchor.specVersion > story.spec_version)
      throw pathNotFound('anchor.specVersion');
    if (parentId !== undefined && parent?.story_id !== story.id) {
      if (parent !== undefined && (await canSeeStory(db, caller, parent.story_id)))
        throw refuse('mismatched_project');
      throw pathNotFound('parentId');
    }

    const comment = comments.make(
      {
        ...params,
        storyId: story.id,
        parentId: parent === undefined ? null : (parent.parent_id ?? parent.id),
        author: caller.actor,
        authorMemberId: caller.memberId,
        mentions,
        told: mentions,
      },
      at,
    );
    db.deferToCommit(comments.insert(comment));
    emit('comment.created', toStoryEventSubject(story), {
      commentId: comment.id,
      parentId: comment.parent_id,
      kind: comment.kind,
      directedTo: comment.directed_to,
      mentions,
    });
    return { comment: toComment(comment, []) };
  },
);
