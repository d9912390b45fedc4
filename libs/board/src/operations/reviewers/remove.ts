import { leadRank, projectRoles } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { type Caller, forbidden, handle, notFound } from '@muster/runtime';
import { deleteReviewer, lockReview, type ReviewRow } from '../../data/reviewers.ts';
import { toStoryEventSubject, lockStory } from '../../data/stories.ts';

export const remove = handle(
  boardRegistry.reviewers.remove,
  async ({ params, targetId, caller, db, projectRank, emit }) => {
    const who = { memberId: params.memberId ?? null, agentId: params.agentId ?? null };
    const [rank, story, review] = await Promise.all([
      projectRank(),
      lockStory(db, targetId),
      lockReview(db, targetId, who),
    ]);
    if (review === undefined) throw notFound();
    if (review.verdict !== 'pending' && rank < leadRank && !isOwnReview(review, caller))
      throw forbidden('verdict_of_another', undefined, { needed: 'lead', held: projectRoles[rank - 1] });
    db.deferToCommit(deleteReviewer(review.id));
    emit('reviewer.removed', toStoryEventSubject(story), who);
    return { deleted: true as const };
  },
);

/**
 * Reports whether the review is the caller's own. A member's own reviews include those of its agents, but not
 * the reverse.
 */
const isOwnReview = (review: ReviewRow, caller: Caller): boolean =>
  caller.agentId === null ? review.acting_member_id === caller.memberId : review.agent_id === caller.agentId;
