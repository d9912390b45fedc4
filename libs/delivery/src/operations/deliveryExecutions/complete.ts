import {
  ApiError,
  isSameCommit,
  isMergeProven,
  type Policy,
  type Rework,
  type UnmetMergeProof,
  unmetMergeProof,
  updateStoryStatus,
} from '@muster/contract';
import { deliveryRegistry } from '@muster/delivery-registry';
import { withCanonicalUrl, handle, type HandlerContext } from '@muster/runtime';
import { lockCodeUnderReview } from '../../data/code-under-review.ts';
import { mightHoldLease } from '../../data/executions.ts';
import { findStoriesToComplete } from '../../data/observations.ts';
import { findChangeRequest } from '../../data/rework.ts';
import { targetSubject, getTargetOfExecution } from '../../data/targets.ts';
import { readTouches } from '../../data/touches.ts';
import {
  requireHolderToEnd,
  endExecutionLease,
  type ExecutionHolder,
  currentExecution,
} from '../../leases/execution-holder.ts';
import { wasAlreadyMerged, findRequestedRework } from '../../rules/forge.ts';
import { parseLeaseToken } from '../../rules/lease-tokens.ts';
import { compareWithTouches } from '../../rules/touches.ts';
import { moveStoriesToDone } from './land-stories.ts';

export const complete = handle(deliveryRegistry.deliveryExecutions.complete, async (context) => {
  const { params, caller, db, policy: askPolicy, emit, refuse, perform } = context;
  const { executionId, leaseToken, outcome } = params;
  // The call's name contains the outcome: a retry with another outcome is a different call.
  const call = `complete as ${outcome}`;
  const submits = outcome === 'submitted';

  // Moving the story locks columns, and columns are locked before leases. The move therefore comes first and
  // is rolled back for a stale token. A repeated call moves nothing, because a later holder may have taken
  // the story up again.
  let moves = false;
  if (submits || outcome === 'succeeded') {
    const [target, isHolder] = await Promise.all([
      getTargetOfExecution(db, executionId),
      mightHoldLease(db, executionId, parseLeaseToken(leaseToken)),
    ]);
    if (isHolder && target.type === 'story' && target.status === 'in_progress')
      moves = await perform(updateStoryStatus, { storyId: target.id, status: 'in_review' }).then(
        () => true,
        (error: unknown) => {
          // The holder's work is done, even if its story cannot move because the target column is missing or
          // full.
          if (!(error instanceof ApiError) || error.code !== 'unprocessable') throw error;
          return false;
        },
      );
    if (isHolder && !submits) await landReportedMerges(context, executionId);
  }
  const [policy, declared, , request, holder] = await Promise.all([
    askPolicy(),
    readTouches(db, executionId),
    // The row lock orders this call and a verdict one after the other.
    submits ? lockCodeUnderReview(db, executionId) : [],
    submits ? findChangeRequest(db, executionId) : null,
    requireHolderToEnd(context, { executionId, leaseToken }, call),
  ]);
  const touches = compareWithTouches(holder.execution.checkpoint?.filesTouched ?? [], declared);
  if (holder.kind === 'repeated') {
    // An identical call ended the lease in between, and a later holder took the story up again. The move of
    // this call must be rolled back.
    if (moves && holder.target.status === 'in_progress')
      throw refuse('stale_lease', { currentEpoch: holder.lease?.epoch ?? 0 });
    return { execution: currentExecution(holder), touches };
  }
  const pullRequest =
    params.pullRequest === undefined
      ? holder.execution.pull_request
      : await withCanonicalUrl(context, params.pullRequest);
  if (submits && pullRequest === null && !hasBranchOrPullRequest(holder)) throw refuse('branch_required');
  if (outcome === 'succeeded') {
    const unmet = unmetCompletionConditions(policy, holder, caller.agentId !== null);
    if (unmet.length > 0) throw refuse('policy', { unmet });
  }

  const about = targetSubject(holder.target);
  const landed = submits && wasAlreadyMerged(policy, holder.execution, pullRequest);
  if (submits) emit('execution.submitted', about, { executionId });
  const rework = submits ? (request ?? forgeChangeRequest(holder)) : null;
  const end = landed ? 'succeeded' : outcome;
  if (end !== 'submitted') emit('execution.completed', about, { executionId, outcome: end });
  const execution = endExecutionLease(context, holder, call, submits ? 'submit' : 'finish', {
    sets: {
      outcome,
      failure: params.failure ?? null,
      summary: params.summary ?? holder.execution.summary,
      pull_request: pullRequest,
      ...(rework !== null && { needs_rework: true, rework }),
    },
    data: { outcome },
    hadLanded: landed,
  });
  return { execution, touches };
});

/**
 * Moves stories to done whose merge was reported before the policy accepted reports. The policy accepts such
 * a merge now.
 */
async function landReportedMerges(
  context: Pick<
    HandlerContext<typeof deliveryRegistry.deliveryExecutions.complete>,
    'db' | 'policy' | 'perform'
  >,
  executionId: string,
): Promise<void> {
  const { uncounted } = await findStoriesToComplete(context.db, executionId);
  if (uncounted.length === 0) return;
  const policy = await context.policy();
  if (policy.completeStoryOnMerge && isMergeProven(policy, 'reported'))
    await moveStoriesToDone(context, uncounted);
}

const hasBranchOrPullRequest = ({ execution: { git } }: ExecutionHolder): boolean =>
  git?.branch != null || git?.pullRequest != null;

/**
 * Returns the forge's request for changes, unless it is known to be about another head than the submitted
 * one.
 */
function forgeChangeRequest({ execution: { forge, git } }: ExecutionHolder): Rework | null {
  const rework = findRequestedRework(forge);
  const isOther =
    rework?.headSha != null && git?.headSha != null && !isSameCommit(rework.headSha, git.headSha);
  return isOther ? null : rework;
}

/** Lists the conditions of the policy that the work does not meet yet. */
function unmetCompletionConditions(
  policy: Policy,
  { execution }: ExecutionHolder,
  isAgent: boolean,
): ({ gate: 'agentsMayComplete' } | UnmetMergeProof)[] {
  const { merged_at: mergedAt, merge_verified_at: verifiedAt } = execution;
  const seen = verifiedAt !== null ? 'verified' : mergedAt !== null ? 'reported' : null;
  const proof = unmetMergeProof(policy, seen);
  return [
    ...(isAgent && !policy.agentsMayComplete ? [{ gate: 'agentsMayComplete' } as const] : []),
    ...(proof === undefined ? [] : [proof]),
  ];
}
