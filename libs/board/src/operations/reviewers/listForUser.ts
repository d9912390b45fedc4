import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listReviewRequestsOf } from '../../data/reviewers.ts';

export const listForUser = handle(boardRegistry.reviewers.listForUser, ({ params, caller, db }) => {
  const { memberId, agentId } = params;
  const isNamed = memberId !== undefined || agentId !== undefined;
  const who = isNamed ? { memberId: memberId ?? null, agentId: agentId ?? null } : caller;
  return listReviewRequestsOf(db, caller, who, params);
});
