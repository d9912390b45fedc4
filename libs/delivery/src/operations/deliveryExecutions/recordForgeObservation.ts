import { type Db } from '@muster/driver';
import {
  type ApiError,
  shortBranchName,
  applyForgeHead,
  type Execution,
  type ForgeFact,
  type ForgeState,
  type Git,
  isSameCommit,
  isMergeProven,
  needsVerifiedMerge,
  emptyGit,
  type Observation,
  type ObservationInput,
  type ForgeHeadFact,
  type Trust,
} from '@muster/contract';
import { deliveryRegistry } from '@muster/delivery-registry';
import { badRequest, canonicalPullUrlOf, handle, type HandlerContext } from '@muster/runtime';
import { type z } from 'zod';
import { changeCodeUnderReview, lockCodeUnderReview } from '../../data/code-under-review.ts';
import { type ExecutionChanges, type ExecutionRow, toExecution } from '../../data/executions.ts';
import { lockExecution } from '../../data/locked-executions.ts';
import {
  isObservedInFuture,
  findStoriesToComplete,
  maxClockSkewMinutes,
  recordObservation,
} from '../../data/observations.ts';
import { targetSubject } from '../../data/targets.ts';
import { matchRepositories } from '../../data/work-repositories.ts';
import { canTransition, type TransitionName } from '../../leases/states.ts';
import { applyTransition } from '../../leases/step.ts';
import { writeStep } from '../../leases/write-step.ts';
import { moveStoriesToDone } from './land-stories.ts';
import {
  applyFact,
  aspectOf,
  isCheckOfEarlierHead,
  isClosedUnmerged,
  isMergeSufficient,
  needsRework,
  findRequestedRework,
  toSeenHead,
} from '../../rules/forge.ts';

/**
 * The part of a handler's context that recording an observation needs. Recording a delivery from a forge
 * passes it, too.
 */
type ObservationContext = Pick<
  HandlerContext<typeof deliveryRegistry.deliveryExecutions.recordForgeObservation>,
  'caller' | 'db' | 'policy' | 'emit' | 'perform'
>;

interface ObservationToRecord {
  readonly executionId: string;
  readonly observation: z.output<typeof ObservationInput>;
  readonly trust: Trust;
  readonly rev?: number | undefined;
}

/** Records an observation with its trust, and applies its consequences. */
export async function recordAndApplyObservation(
  context: ObservationContext,
  { executionId, observation, trust, rev }: ObservationToRecord,
): Promise<{ recorded: boolean; observation: Observation; execution: Execution }> {
  const { caller, db, policy: askPolicy, emit } = context;
  const fact = toForgeFact(observation, rev);
  const { at: observedAt, rev: _, before: __, reviewer: ___, ...said } = fact;
  const answered: Observation = { ...said, observedAt, trust };
  const head = toSeenHead(fact);
  const [isAhead, policy, codes, recorded, landing] = await Promise.all([
    isObservedInFuture(db, observation.observedAt),
    askPolicy(),
    // Lock order: stories before leases and executions.
    head === undefined && aspectOf(fact.kind) !== 'checks' ? [] : lockCodeUnderReview(db, executionId),
    recordObservation(db, executionId, observation, { trust, by: caller.actor }),
    findStoriesToComplete(db, executionId),
  ]);

  if (isAhead) throw observedInFutureError();
  const isMerge = fact.kind === 'pr_merged';
  const isAgentsReport = trust === 'reported' && caller.actor.agentId !== null;
  const mayComplete = policy.agentsMayComplete || !isAgentsReport;
  const counts = !isMerge || (mayComplete && isMergeProven(policy, trust));

  // Moving a story locks columns, which come before leases, so the move goes first.
  if (recorded && isMerge && counts && policy.completeStoryOnMerge)
    await moveStoriesToDone(context, landing[needsVerifiedMerge(policy) ? 'verified' : 'reported']);
  const { lease, execution, now, target } = await lockExecution(db, executionId);
  const storyCodes = codes.map(({ code }) => code);
  if (!recorded || isCheckOfEarlierHead(fact, storyCodes))
    return { recorded, observation: answered, execution: toExecution(execution, lease, now) };

  // Some merges are recorded without changing the state. These are merges that do not count, and reports of
  // agents that may not complete. A later fact of the forge is then still new.
  const { state: forge, news } = counts
    ? applyFact(execution.forge, fact)
    : { state: execution.forge, news: false };
  const { headSha, isOtherCode } = head ? updateHead(db, codes, head) : unchangedHead;
  const seen = { kind: fact.kind, news, ref: fact.ref, number: fact.number, trust };
  const merges = mergeTimesAfter(execution, forge, fact, trust);
  const told = { news: news ? fact : undefined, headSha };
  const { transition, sets } = transitionForFact(execution, forge, {
    ...told,
    isOtherCode,
    isLanded: isMergeSufficient(policy, { forge, ...merges }),
  });
  const completes = transition === 'observeMerge';
  const git = gitChangesFor(execution, told);
  const taken = applyTransition(execution, transition, {
    now,
    sets: { forge, ...git, ...merges, ...sets },
    ...(completes ? { precedingEvents: [{ kind: 'forge', data: seen }] } : { data: seen }),
  });
  writeStep(context, taken, lease);
  const about = targetSubject(target);
  emit('execution.observed', about, { executionId, kind: fact.kind });
  if (completes) emit('execution.completed', about, { executionId, outcome: 'succeeded' });
  return { recorded, observation: answered, execution: toExecution(taken.row, lease, now) };
}

/** Records a report of a token. Its trust is always `reported`, regardless of the token's owner. */
export const recordForgeObservation = handle(
  deliveryRegistry.deliveryExecutions.recordForgeObservation,
  async (context) => {
    const { db, params, refuse } = context;
    const { executionId, repository } = params;
    const { url, number = null } = params.observation;
    const [known, matches] = await Promise.all([
      url === undefined ? undefined : canonicalPullUrlOf(db, url, number).then((found) => found ?? url),
      repository === undefined ? undefined : matchRepositories(db, [executionId], repository),
    ]);
    if (matches?.get(executionId) === 'other') throw refuse('other_repository', { repository });
    const observation = { ...params.observation, ...(known !== undefined && { url: known }) };
    return recordAndApplyObservation(context, { ...params, observation, trust: 'reported' });
  },
);

function toForgeFact(observation: ObservationToRecord['observation'], rev: number | undefined): ForgeFact {
  const { before, reviewer } = observation;
  return {
    kind: observation.kind,
    at: observation.observedAt,
    dedupeKey: observation.dedupeKey,
    ref: observation.ref === undefined ? null : shortBranchName(observation.ref),
    sha: observation.sha ?? null,
    number: observation.number ?? null,
    url: observation.url ?? null,
    ...(rev !== undefined && { rev }),
    ...(before !== undefined && { before }),
    ...(reviewer !== undefined && { reviewer }),
  };
}

const observedInFutureError = (): ApiError =>
  badRequest('The time of the observation is in the future.', [
    {
      path: 'observation.observedAt',
      message: `is more than ${maxClockSkewMinutes} minutes ahead of the server`,
    },
  ]);

/** Returns the times of the merge: as reported by any source, and as verified by the forge. */
function mergeTimesAfter(
  { merged_at: mergedAt, merge_verified_at: verifiedAt }: ExecutionRow,
  forge: ForgeState,
  { kind, at }: ForgeFact,
  trust: Trust,
): Pick<ExecutionRow, 'merged_at' | 'merge_verified_at'> {
  const isMerge = kind === 'pr_merged';
  const folded = forge.pullRequest?.kind === 'pr_merged' ? forge.pullRequest.at : mergedAt;
  const isLater = verifiedAt === null || at > verifiedAt;
  return {
    merged_at: folded ?? (isMerge ? at : null),
    merge_verified_at: isMerge && trust === 'verified' && isLater ? at : verifiedAt,
  };
}

/** The head commit after a fact. */
interface HeadUpdate {
  /** The head; undefined if the fact does not name one, or if a newer one is known. */
  readonly headSha: string | undefined;
  /** True if the code changed, which makes verdicts on the earlier code stale. */
  readonly isOtherCode: boolean;
}

const unchangedHead: HeadUpdate = { headSha: undefined, isOtherCode: false };

/** Returns the head after this fact, and updates the code under review of the stories. */
function updateHead(
  db: Db,
  storyCodes: Awaited<ReturnType<typeof lockCodeUnderReview>>,
  head: ForgeHeadFact,
): HeadUpdate {
  const after = changeCodeUnderReview(db, storyCodes, (code) => applyForgeHead(code, head));
  const isOtherCode = after.some(({ seq }, index) => seq !== storyCodes[index]?.code.seq);
  return { headSha: headShaAfter(storyCodes, after, head), isOtherCode };
}

function headShaAfter(
  storyCodes: Awaited<ReturnType<typeof lockCodeUnderReview>>,
  updatedCodes: ReturnType<typeof changeCodeUnderReview>,
  { sha }: ForgeHeadFact,
): string | undefined {
  if (sha === null) return undefined;
  if (storyCodes.length === 0) return sha;
  const moved = updatedCodes.find(
    ({ headSha }, index) => headSha !== null && headSha !== storyCodes[index]?.code.headSha,
  );
  const isHead = updatedCodes.some(({ headSha }) => headSha !== null && isSameCommit(headSha, sha));
  return moved?.headSha ?? (isHead ? sha : undefined);
}

/**
 * Returns the transition that the facts of the forge cause on an execution without a holder. On a held
 * execution the facts only signal the holder, who completes the work.
 */
function transitionForFact(
  { state, rework }: ExecutionRow,
  forge: ForgeState,
  {
    news,
    isOtherCode,
    isLanded,
  }: {
    readonly news: ForgeFact | undefined;
    readonly isOtherCode: boolean;
    readonly isLanded: boolean;
  },
): { readonly transition: TransitionName; readonly sets: ExecutionChanges } {
  if (isLanded && canTransition('observeMerge', state)) return { transition: 'observeMerge', sets: {} };
  // A closed pull request returns the work that was submitted before it closed, and no later submission.
  if (news?.kind === 'pr_closed' && canTransition('sendBack', state))
    return { transition: 'sendBack', sets: { needs_rework: true } };
  if (state !== 'submitted' && state !== 'available') return { transition: 'observe', sets: {} };
  const isGivenBack = state === 'available' && isClosedUnmerged(forge);
  // A request for changes made in Muster is stale once the code changes. The forge's request follows the
  // forge's state.
  const own = rework?.source === 'muster' && !isOtherCode ? rework : null;
  return {
    transition: 'observe',
    sets: {
      needs_rework: needsRework(forge) || isGivenBack || own !== null,
      rework: own ?? findRequestedRework(forge),
    },
  };
}

/**
 * Returns the git data that is shown to people. The result is empty if neither the new fact nor the head
 * changes the git data.
 */
function gitChangesFor(
  { git }: ExecutionRow,
  { news, headSha }: { readonly news: ForgeFact | undefined; readonly headSha: string | undefined },
): Pick<ExecutionChanges, 'git'> {
  const known = git ?? emptyGit;
  const told = news === undefined ? known : applyFactToGit(known, news);
  if (told === known && headSha === undefined) return {};
  return { git: { ...told, ...(headSha !== undefined && { headSha }) } };
}

/** Copies the newest fact of the forge into the git data that people see. */
function applyFactToGit(git: Git, { kind, ref, number, url }: ForgeFact): Git {
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
