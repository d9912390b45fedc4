import { inside } from '@muster/registry';
import { handle } from '@muster/runtime';
import { reviewable } from '../../data/reviewers.ts';
import { findReviews } from '../../data/reviews.ts';
import { getStory, keyOf } from '../../data/stories.ts';
import { countFresh, isStale } from '../../rules/reviews.ts';

export const mergeGate = handle(inside.mergeGate, async ({ targetId, db, policy: askPolicy }) => {
  const [story, { verdicts, authors }, policy] = await Promise.all([
    getStory(db, targetId),
    findReviews(db, targetId),
    askPolicy(),
  ]);
  const now = reviewable(story);
  return {
    key: keyOf(story),
    specVersion: story.spec_version,
    requiredApprovals: policy.requiredApprovals,
    ...countFresh(verdicts, now, authors, policy),
    staleVerdicts: verdicts.filter((review) => review.isActive && isStale(review, now)).length,
    headSha: now.code.headSha,
  };
});
