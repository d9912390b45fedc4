import {
  ApiError,
  codeSeen,
  type ForgeFact,
  type ForgeState,
  type Git,
  isSameCommit,
  nothingKnown,
  registry,
  type SeenHead,
} from '@muster/registry';
import { type Db } from '@muster/database';
import { badRequest, handle } from '@muster/runtime';
import { changeCode, lockCode } from '../../data/code-under-review.ts';
import { type ExecutionRow, toExecution } from '../../data/executions.ts';
import { lockExecution } from '../../data/locked-executions.ts';
import {
  isAheadOfClock,
  landedStories,
  mostAheadMinutes,
  recordObservation,
} from '../../data/observations.ts';
import { aboutTarget } from '../../data/targets.ts';
import { can, type Deed } from '../../leases/states.ts';
import { type ExecutionChanges, step } from '../../leases/step.ts';
import { writeStep } from '../../leases/write-step.ts';
import { fold, isClosed, isMerged, needsRework, seenHead } from '../../rules/forge.ts';

export const recordForgeObservation = handle(
  registry.deliveryExecutions.recordForgeObservation,
  async (context) => {
    const { params, caller, db, policy: askPolicy, emit, perform } = context;
    const { executionId, observation } = params;
    const fact: ForgeFact = {
      kind: observation.kind,
      at: observation.observedAt,
      dedupeKey: observation.dedupeKey,
      ref: observation.ref ?? null,
      sha: observation.sha ?? null,
      number: observation.number ?? null,
      url: observation.url ?? null,
    };
    const head = seenHead(fact);
    const [isAhead, policy, codes, recorded, landing] = await Promise.all([
      isAheadOfClock(db, observation.observedAt),
      askPolicy(),
      // Stories come before leases and executions.
      head === undefined ? [] : lockCode(db, executionId),
      recordObservation(db, executionId, observation, caller.actor),
      landedStories(db, executionId),
    ]);

    if (isAhead) {
      throw badRequest('Nobody can have seen it yet.', [
        {
          path: 'observation.observedAt',
          message: `is more than ${mostAheadMinutes} minutes ahead of the server`,
        },
      ]);
    }

    // A story's move locks columns, which come before leases; so it goes first.
    if (recorded && observation.kind === 'pr_merged' && policy.completeStoryOnMerge) {
      for (const storyId of landing) {
        await perform(registry.stories.updateStatus, { storyId, status: 'done' }).catch((error: unknown) => {
          // Without its approvals, say, the story stays where it is; that it was merged is recorded all the same.
          if (!(error instanceof ApiError) || error.code !== 'unprocessable') throw error;
        });
      }
    }
    const { lease, execution, now, target } = await lockExecution(db, executionId);
    if (!recorded) return { recorded, execution: toExecution(execution, lease, now) };

    const { state: forge, news } = fold(execution.forge, fact);
    const headSha = head && headAfter(db, codes, head);
    const seen = { kind: fact.kind, news, ref: fact.ref, number: fact.number };
    const { deed, sets } = follows(execution, forge, news ? fact : undefined);
    const completes = deed === 'observeMerge';
    const taken = step(execution, deed, {
      now,
      sets: {
        forge,
        ...((news || headSha !== undefined) && {
          git: {
            ...(news ? gitOf(execution.git ?? nothingKnown, fact) : (execution.git ?? nothingKnown)),
            ...(headSha !== undefined && { headSha }),
          },
        }),
        merged_at: forge.pullRequest?.kind === 'pr_merged' ? forge.pullRequest.at : execution.merged_at,
        ...sets,
      },
      ...(completes ? { earlier: [{ kind: 'forge', data: seen }] } : { data: seen }),
    });
    writeStep(context, taken, lease);
    const about = aboutTarget(target);
    emit('execution.observed', about, { executionId, kind: fact.kind });
    if (completes) emit('execution.completed', about, { executionId, outcome: 'succeeded' });
    return { recorded, execution: toExecution(taken.row, lease, now) };
  },
);

/**
 * What the head is by this fact: undefined where it does not say, or where what is known is newer. What is under review of
 * the stories follows it.
 */
function headAfter(db: Db, codes: Awaited<ReturnType<typeof lockCode>>, head: SeenHead): string | undefined {
  const { sha } = head;
  const after = changeCode(db, codes, (code) => codeSeen(code, head));
  const isHead = after.some(({ headSha }) => sha !== null && headSha !== null && isSameCommit(headSha, sha));
  return sha !== null && isHead ? sha : undefined;
}

/** What the facts make of an execution that nobody holds; on a held one they are signals, and its holder completes. */
function follows(
  { state }: ExecutionRow,
  forge: ForgeState,
  news: ForgeFact | undefined,
): { readonly deed: Deed; readonly sets: ExecutionChanges } {
  if (isMerged(forge) && can('observeMerge', state)) return { deed: 'observeMerge', sets: {} };
  // A closing sends back what was handed in before it; what was handed in since is another matter.
  if (news?.kind === 'pr_closed' && can('sendBack', state)) {
    return { deed: 'sendBack', sets: { needs_rework: true } };
  }
  if (state !== 'submitted' && state !== 'available') return { deed: 'observe', sets: {} };
  const isGivenBack = state === 'available' && isClosed(forge);
  return { deed: 'observe', sets: { needs_rework: needsRework(forge) || isGivenBack } };
}

/** The newest facts also stand where people look for them. */
function gitOf(git: Git, { kind, ref, number, url }: ForgeFact): Git {
  switch (kind) {
    case 'branch_pushed':
      return { ...git, branch: ref ?? git.branch };
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
