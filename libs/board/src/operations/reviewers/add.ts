import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { lockAgent, lockMember, requireParticipant } from '../../data/participants.ts';
import { countReviewers, maxReviewers, type ReviewRow, reviews, toReviewer } from '../../data/reviewers.ts';
import { toStoryEventSubject, lockStory } from '../../data/stories.ts';

export const add = handle(
  boardRegistry.reviewers.add,
  async ({ params, targetId, db, access, emit, refuse }) => {
    const who = { memberId: params.memberId ?? null, agentId: params.agentId ?? null };
    const [{ at }, story, foundMember, foundAgent, { count, isReviewer }] = await Promise.all([
      access(),
      lockStory(db, targetId),
      who.memberId === null ? undefined : lockMember(db, who.memberId),
      who.agentId === null ? undefined : lockAgent(db, who.agentId),
      countReviewers(db, targetId, who),
    ]);
    const participant = requireParticipant(
      foundMember ?? foundAgent,
      refuse,
      who.memberId === null ? 'agentId' : 'memberId',
    );
    if (isReviewer) throw refuse('already_exists');
    if (count >= maxReviewers) throw refuse('limit_exceeded', { limit: maxReviewers });

    const row: ReviewRow = {
      ...reviews.make({ ...who, storyId: story.id, projectId: story.project_id }, at),
      reviewer_name: participant.name,
      acting_member_id: participant.member_id,
      is_active: true,
    };
    db.deferToCommit(reviews.insert(row));
    emit('reviewer.added', toStoryEventSubject(story), who);
    return { reviewer: toReviewer(row, story) };
  },
);
