import { ApiError, type Policy, registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { type ExecutionChanges, freeLocksOfRun, mayHold } from '../../data/executions.ts';
import { aboutTarget, getTargetOf } from '../../data/targets.ts';
import { claimOf } from '../../rules/lease-tokens.ts';
import { asHolder, type Grip } from './as-holder.ts';
import { letGo } from './let-go.ts';

export const complete = handle(registry.deliveryExecutions.complete, async (context) => {
  const { params, caller, db, policy: askPolicy, emit, refuse, perform } = context;
  const { executionId, leaseToken, outcome } = params;
  // Said again with another outcome it is another call.
  const call = `complete as ${outcome}`;

  // The story's move locks columns, which come before leases; so it goes first, and stays undone for a stale token. A
  // call that is repeated moves nothing: somebody may have taken the story up again since.
  let moves = false;
  if (outcome === 'submitted' || outcome === 'succeeded') {
    const [target, isHolder] = await Promise.all([
      getTargetOf(db, caller.orgId, executionId),
      mayHold(db, caller.orgId, executionId, claimOf(leaseToken)),
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
  }
  const [policy, grip] = await Promise.all([
    askPolicy(),
    asHolder(context, { executionId, leaseToken }, call),
  ]);
  if (grip.kind === 'repeated') {
    // Its twin came in between, and then somebody took the story up again: this one's move would be written yet.
    if (moves && grip.target.status === 'in_progress') {
      throw refuse('stale_lease', { currentEpoch: grip.currentEpoch });
    }
    return { execution: grip.execution };
  }
  const pullRequest = params.pullRequest ?? grip.execution.pull_request;
  if (outcome === 'submitted' && pullRequest === null && branchOf(grip) === null) {
    throw refuse('branch_required');
  }
  if (outcome === 'succeeded') {
    const unmet = unmetToSucceed(policy, grip, caller.agentId !== null);
    if (unmet.length > 0) throw refuse('policy', { unmet });
  }

  const about = aboutTarget(grip.target);
  if (outcome === 'submitted') emit('execution.submitted', about, { executionId });
  else emit('execution.completed', about, { executionId, outcome });
  const changes: ExecutionChanges = {
    outcome,
    failure: params.failure ?? null,
    summary: params.summary ?? grip.execution.summary,
    pull_request: pullRequest,
    waiting_for: null,
    needs_rework: false,
    ...(outcome === 'submitted'
      ? { state: 'submitted' }
      : { state: 'completed', completed_at: grip.now, stop_requested: null }),
  };
  const execution = letGo(context, grip, call, {
    changes,
    deed: { kind: outcome === 'submitted' ? 'submitted' : 'completed', data: { outcome } },
    freesLocks: true,
  });
  const { run_id: runId } = grip.lease;
  if (runId !== null) db.later(freeLocksOfRun(caller.orgId, execution.projectId, { ...caller, runId }));
  return { execution };
});

const branchOf = ({ execution }: Grip): string | null =>
  execution.git?.branch ?? (execution.git?.pullRequest == null ? null : 'pull request');

/** What the policy asks for before work counts as done. */
function unmetToSucceed(
  policy: Policy,
  { execution }: Grip,
  isAgent: boolean,
): { gate: 'agentsMayComplete' | 'requireMergeProof' }[] {
  const unmet: { gate: 'agentsMayComplete' | 'requireMergeProof' }[] = [];
  if (isAgent && !policy.agentsMayComplete) unmet.push({ gate: 'agentsMayComplete' });
  if (policy.requireMergeProof && execution.merged_at === null) unmet.push({ gate: 'requireMergeProof' });
  return unmet;
}
