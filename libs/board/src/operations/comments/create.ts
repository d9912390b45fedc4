import { registry } from '@muster/registry';
import { handle, nothingAt } from '@muster/runtime';
import { comments, findMentioned, findParent, toComment } from '../../data/comments.ts';
import { findMember, requireParticipant } from '../../data/participants.ts';
import { aboutStory } from '../../data/stories.ts';
import { canSeeStory, getStoryTopic } from '../../data/story-topics.ts';
import { mentionedHandles } from '../../rules/mentions.ts';

export const create = handle(
  registry.comments.create,
  async ({ params, targetId, caller, db, access, emit, refuse }) => {
    const { parentId, directedTo, body, anchor } = params;
    const [story, { at }, parent, addressee, mentions] = await Promise.all([
      getStoryTopic(db, targetId),
      access(),
      parentId === undefined ? undefined : findParent(db, parentId),
      directedTo === undefined ? undefined : findMember(db, directedTo),
      findMentioned(db, { id: targetId }, mentionedHandles(body)),
    ]);
    if (directedTo !== undefined) requireParticipant(addressee, refuse, 'directedTo');
    if (anchor !== undefined && anchor.specVersion > story.spec_version)
      throw nothingAt('anchor.specVersion');
    if (parentId !== undefined && parent?.story_id !== story.id) {
      if (parent !== undefined && (await canSeeStory(db, caller, parent.story_id)))
        throw refuse('mismatched_project');
      throw nothingAt('parentId');
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
    db.later(comments.insert(comment));
    emit('comment.created', aboutStory(story), {
      commentId: comment.id,
      parentId: comment.parent_id,
      kind: comment.kind,
      directedTo: comment.directed_to,
      mentions,
    });
    return { comment: toComment(comment, []) };
  },
);
