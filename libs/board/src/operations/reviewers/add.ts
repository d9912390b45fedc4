import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { lockAgent, lockMember, requireParticipant } from '../../data/participants.ts';
import { countReviewers, mostReviewers, type ReviewRow, reviews, toReviewer } from '../../data/reviewers.ts';
import { aboutStory, lockStory } from '../../data/stories.ts';

export const add = handle(registry.reviewers.add, async ({ params, targetId, db, access, emit, refuse }) => {
  const who = { memberId: params.memberId ?? null, agentId: params.agentId ?? null };
  const [{ at }, story, foundMember, foundAgent, { count, isAmong }] = await Promise.all([
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
  if (isAmong) throw refuse('already_exists');
  if (count >= mostReviewers) throw refuse('limit_exceeded', { limit: mostReviewers });

  const row: ReviewRow = {
    ...reviews.make({ ...who, storyId: story.id, projectId: story.project_id }, at),
    reviewer_name: participant.name,
    acting_member_id: participant.member_id,
    is_active: true,
  };
  db.later(reviews.insert(row));
  emit('reviewer.added', aboutStory(story), who);
  return { reviewer: toReviewer(row, story) };
});
