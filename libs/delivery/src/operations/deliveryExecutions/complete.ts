import {
  ApiError,
  isSameCommit,
  mergeCounts,
  type Policy,
  registry,
  type Rework,
  type UnmetMergeProof,
  unmetMergeProof,
} from '@muster/registry';
import { canonicalPull, handle, type HandlerContext } from '@muster/runtime';
import { lockCode } from '../../data/code-under-review.ts';
import { mayHold } from '../../data/executions.ts';
import { landedStories } from '../../data/observations.ts';
import { findRequest } from '../../data/rework.ts';
import { aboutTarget, getTargetOf } from '../../data/targets.ts';
import { asEnder, endLease, type ExecutionHolder, standing } from '../../leases/execution-holder.ts';
import { hadLanded, reworkOf } from '../../rules/forge.ts';
import { claimOf } from '../../rules/lease-tokens.ts';
import { landStories } from './land-stories.ts';

export const complete = handle(registry.deliveryExecutions.complete, async (context) => {
  const { params, caller, db, policy: askPolicy, emit, refuse, perform } = context;
  const { executionId, leaseToken, outcome } = params;
  // Said again with another outcome it is another call.
  const call = `complete as ${outcome}`;
  const submits = outcome === 'submitted';

  // The story's move locks columns, which come before leases; so it goes first, and stays undone for a stale token. A
  // call that is repeated moves nothing: a later holder may have taken the story up again.
  let moves = false;
  if (submits || outcome === 'succeeded') {
    const [target, isHolder] = await Promise.all([
      getTargetOf(db, executionId),
      mayHold(db, executionId, claimOf(leaseToken)),
    ]);
    if (isHolder && target.type === 'story' && target.status === 'in_progress') {
      moves = await perform(registry.stories.updateStatus, { storyId: target.id, status: 'in_review' }).then(
        () => true,
        (error: unknown) => {
          // What was worked is done, also where the board has no room or no column for it.
          if (!(error instanceof ApiError) || error.code !== 'unprocessable') throw error;
          return false;
        },
      );
    }
    if (isHolder && !submits) await landReported(context, executionId);
  }
  const [policy, , request, holder] = await Promise.all([
    askPolicy(),
    // A verdict comes before this, or after it.
    submits ? lockCode(db, executionId) : [],
    submits ? findRequest(db, executionId) : null,
    asEnder(context, { executionId, leaseToken }, call),
  ]);
  if (holder.kind === 'repeated') {
    // Its twin came in between, and then a later holder took the story up again: this one's move would be written yet.
    if (moves && holder.target.status === 'in_progress') {
      throw refuse('stale_lease', { currentEpoch: holder.lease?.epoch ?? 0 });
    }
    return { execution: standing(holder) };
  }
  const pullRequest =
    params.pullRequest === undefined
      ? holder.execution.pull_request
      : await canonicalPull(context, params.pullRequest);
  if (submits && pullRequest === null && !hasBranch(holder)) {
    throw refuse('branch_required');
  }
  if (outcome === 'succeeded') {
    const unmet = unmetToSucceed(policy, holder, caller.agentId !== null);
    if (unmet.length > 0) throw refuse('policy', { unmet });
  }

  const about = aboutTarget(holder.target);
  const landed = submits && hadLanded(policy, holder.execution, pullRequest);
  if (submits) emit('execution.submitted', about, { executionId });
  const rework = submits ? (request ?? requestAtForge(holder)) : null;
  const end = landed ? 'succeeded' : outcome;
  if (end !== 'submitted') emit('execution.completed', about, { executionId, outcome: end });
  const execution = endLease(context, holder, call, submits ? 'submit' : 'finish', {
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
  return { execution };
});

/** A merge that was reported before reports counted proves the work now, so its stories land with it. */
async function landReported(
  context: Pick<HandlerContext<typeof registry.deliveryExecutions.complete>, 'db' | 'policy' | 'perform'>,
  executionId: string,
): Promise<void> {
  const { uncounted } = await landedStories(context.db, executionId);
  if (uncounted.length === 0) return;
  const policy = await context.policy();
  if (policy.completeStoryOnMerge && mergeCounts(policy, 'reported')) await landStories(context, uncounted);
}

const hasBranch = ({ execution: { git } }: ExecutionHolder): boolean =>
  git?.branch != null || git?.pullRequest != null;

/** A request for changes at the forge that is about the head that is handed in, as far as it is known. */
function requestAtForge({ execution: { forge, git } }: ExecutionHolder): Rework | null {
  const rework = reworkOf(forge);
  const isOther =
    rework?.headSha != null && git?.headSha != null && !isSameCommit(rework.headSha, git.headSha);
  return isOther ? null : rework;
}

/** What the policy asks for before work counts as done. */
function unmetToSucceed(
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
