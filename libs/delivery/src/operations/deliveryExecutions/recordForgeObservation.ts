import {
  ApiError,
  type ForgeFact,
  type ForgeState,
  type Git,
  nothingKnown,
  registry,
} from '@muster/registry';
import { handle } from '@muster/runtime';
import {
  changedExecution,
  type Deed,
  type ExecutionChanges,
  type ExecutionRow,
  freeLocksOf,
  setExecution,
  toExecution,
} from '../../data/executions.ts';
import { lockExecution } from '../../data/locked-executions.ts';
import { landedStories, recordObservation } from '../../data/observations.ts';
import { aboutTarget } from '../../data/targets.ts';
import { can } from '../../rules/execution-states.ts';
import { fold, isClosed, isMerged, needsRework } from '../../rules/forge.ts';

export const recordForgeObservation = handle(
  registry.deliveryExecutions.recordForgeObservation,
  async (context) => {
    const { params, caller, db, policy: askPolicy, emit, perform } = context;
    const { executionId, observation } = params;
    const { orgId } = caller;
    const [policy, recorded, landing] = await Promise.all([
      askPolicy(),
      recordObservation(db, orgId, executionId, observation, caller.actor),
      landedStories(db, orgId, executionId),
    ]);

    // A story's move locks columns, which come before leases; so it goes first.
    if (recorded && observation.kind === 'pr_merged' && policy.completeStoryOnMerge) {
      for (const storyId of landing) {
        await perform(registry.stories.updateStatus, { storyId, status: 'done' }).catch((error: unknown) => {
          // Without its approvals, say, the story stays where it is; that it was merged is recorded all the same.
          if (!(error instanceof ApiError) || error.code !== 'unprocessable') throw error;
        });
      }
    }
    const { lease, execution, now, target } = await lockExecution(db, orgId, executionId);
    if (!recorded) return { recorded, execution: toExecution(execution, lease, now) };

    const fact: ForgeFact = {
      kind: observation.kind,
      at: observation.observedAt,
      dedupeKey: observation.dedupeKey,
      ref: observation.ref ?? null,
      sha: observation.sha ?? null,
      number: observation.number ?? null,
      url: observation.url ?? null,
    };
    const { state: forge, news } = fold(execution.forge, fact);
    const changes: ExecutionChanges = {
      forge,
      ...(news && { git: gitOf(execution.git ?? nothingKnown, fact) }),
      merged_at: forge.pullRequest?.kind === 'pr_merged' ? forge.pullRequest.at : execution.merged_at,
      ...stateAfter(execution, forge, news ? fact : undefined, now),
    };
    const deeds: Deed[] = [
      { kind: 'forge', data: { kind: fact.kind, news, ref: fact.ref, number: fact.number } },
    ];
    const completes = changes.state === 'completed';
    if (completes) deeds.push({ kind: 'completed', data: { outcome: changes.outcome } });
    const changed = changedExecution(execution, changes, now, deeds);
    const columns = Object.keys(changes) as (keyof ExecutionChanges)[];
    db.later(setExecution(orgId, changed, columns, caller.actor, deeds));
    const about = aboutTarget(target);
    emit('execution.observed', about, { executionId, kind: fact.kind });
    if (completes) {
      db.later(freeLocksOf(orgId, executionId));
      emit('execution.completed', about, { executionId, outcome: 'succeeded' });
    }
    return { recorded, execution: toExecution(changed, lease, now) };
  },
);

/** What the facts make of an execution that nobody holds; on a held one they are signals, and its holder completes. */
function stateAfter(
  execution: ExecutionRow,
  forge: ForgeState,
  news: ForgeFact | undefined,
  now: string,
): ExecutionChanges {
  const { state } = execution;
  if (isMerged(forge) && can('observeMerge', state)) {
    return {
      state: 'completed',
      outcome: 'succeeded',
      completed_at: now,
      needs_rework: false,
      offer: null,
      stop_requested: null,
    };
  }
  if (state !== 'submitted' && state !== 'available') return {};
  // A closing sends back what was handed in before it; what was handed in since is another matter.
  if (state === 'submitted' && news?.kind === 'pr_closed') return { state: 'available', needs_rework: true };
  return { needs_rework: needsRework(forge) || (state === 'available' && isClosed(forge)) };
}

/** The newest facts also stand where people look for them. */
function gitOf(git: Git, { kind, ref, sha, number, url }: ForgeFact): Git {
  switch (kind) {
    case 'branch_pushed':
      return { ...git, branch: ref ?? git.branch, headSha: sha ?? git.headSha };
    case 'checks_passed':
    case 'checks_failed':
      return { ...git, checks: kind === 'checks_passed' ? 'passing' : 'failing' };
    case 'pr_opened':
    case 'pr_updated':
    case 'pr_reopened':
    case 'pr_closed':
    case 'pr_merged': {
      const known = git.pullRequest;
      const state = kind === 'pr_merged' ? 'merged' : kind === 'pr_closed' ? 'closed' : 'open';
      const where = { number: number ?? known?.number, url: url ?? known?.url };
      if (where.number === undefined || where.url === undefined) return git;
      const isSame = known?.number === where.number;
      return {
        ...git,
        pullRequest: { number: where.number, url: where.url, state, title: isSame ? known.title : null },
      };
    }
    default:
      return git;
  }
}
