import { boardRegistry } from '@muster/board-registry';
import { handle, pathNotFound } from '@muster/runtime';
import { comments, findMentionedIds, findParentComment, toComment } from '../../data/comments.ts';
import { findActor, requireParticipant } from '../../data/participants.ts';
import { toStoryEventSubject } from '../../data/stories.ts';
import { canSeeStory, getStoryForEvents } from '../../data/story-topics.ts';
import { findMentionedHandles } from '../../rules/mentions.ts';

export const create = handle(
  boardRegistry.comments.create,
  async ({ params, targetId, caller, db, access, emit, refuse }) => {
    const { parentId, directedTo, body, anchor } = params;
    const [story, { at }, parent, addressee, mentioned] = await Promise.all([
      getStoryForEvents(db, targetId),
      access(),
      parentId === undefined ? undefined : findParentComment(db, parentId),
      directedTo === undefined ? undefined : findActor(db, directedTo),
      findMentionedIds(db, caller.memberId, { id: targetId }, findMentionedHandles(body)),
    ]);
    if (directedTo !== undefined) requireParticipant(addressee, refuse, 'directedTo');
    const isToAgent = addressee !== undefined && addressee.id !== addressee.member_id;
    if (anchor !== undefined && anchor.specVersion > story.spec_version)
      throw pathNotFound('anchor.specVersion');
    if (parentId !== undefined && parent?.story_id !== story.id) {
      if (parent !== undefined && (await canSeeStory(db, caller, parent.story_id)))
        throw refuse('mismatched_project');
      throw pathNotFound('parentId');
    }

    const mentions = [...mentioned.members, ...mentioned.agents];
    const comment = comments.make(
      {
        ...params,
        storyId: story.id,
        parentId: parent === undefined ? null : (parent.parent_id ?? parent.id),
        author: caller.actor,
        authorMemberId: caller.memberId,
        directedTo: isToAgent ? null : (directedTo ?? null),
        directedToAgent: isToAgent ? addressee.id : null,
        mentions: mentioned.members,
        agentMentions: mentioned.agents,
        told: mentions,
      },
      at,
    );
    db.deferToCommit(comments.insert(comment));
    emit('comment.created', toStoryEventSubject(story), {
      commentId: comment.id,
      parentId: comment.parent_id,
      kind: comment.kind,
      directedTo: directedTo ?? null,
      mentions,
    });
    return { comment: toComment(comment, []) };
  },
);
