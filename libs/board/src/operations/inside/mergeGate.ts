import { internalOperations } from '@muster/contract';
import { handle } from '@muster/runtime';
import { toReviewable } from '../../data/reviewers.ts';
import { findReviews } from '../../data/reviews.ts';
import { getStory, toStoryKey } from '../../data/stories.ts';
import { countFreshVerdicts, isReviewStale } from '../../rules/reviews.ts';

export const mergeGate = handle(internalOperations.mergeGate, async ({ targetId, db, policy: askPolicy }) => {
  const [story, { verdicts, authors }, policy] = await Promise.all([
    getStory(db, targetId),
    findReviews(db, targetId),
    askPolicy(),
  ]);
  const now = toReviewable(story);
  return {
    key: toStoryKey(story),
    specVersion: story.spec_version,
    requiredApprovals: policy.requiredApprovals,
    ...countFreshVerdicts(verdicts, now, authors, policy),
    staleVerdicts: verdicts.filter((review) => review.isActive && isReviewStale(review, now)).length,
    headSha: now.code.headSha,
  };
});
