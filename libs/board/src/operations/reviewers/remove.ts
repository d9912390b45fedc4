import { registry } from '@muster/registry';
import { handle, notFound } from '@muster/runtime';
import { deleteReviewer, lockReview } from '../../data/reviewers.ts';
import { aboutStory, lockStory } from '../../data/stories.ts';

export const remove = handle(registry.reviewers.remove, async ({ params, caller, db, emit }) => {
  const { orgId } = caller;
  const who = { memberId: params.memberId ?? null, agentId: params.agentId ?? null };
  const [story, review] = await Promise.all([
    lockStory(db, orgId, params.storyId),
    lockReview(db, orgId, params.storyId, who),
  ]);
  if (review === undefined) throw notFound();
  db.later(deleteReviewer(orgId, review.id));
  emit('reviewer.removed', aboutStory(story), who);
  return { deleted: true as const };
});
