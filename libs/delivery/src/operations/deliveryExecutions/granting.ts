/** Grants a lease. A target that the caller names and one that a search found follow the same decision. */
import { type IdOrSql } from '@muster/driver';
import {
  type ExecutionTarget,
  movesToStart,
  leadRank,
  type Policy,
  projectRoles,
  type ResultOf,
  updateStoryStatus,
} from '@muster/contract';
import { type deliveryRegistry } from '@muster/delivery-registry';
import { type ApiError, forbidden, type HandlerContext } from '@muster/runtime';
import {
  type LockedAcquireRows,
  lockForAcquire,
  newExecution,
  toOpenExecution,
} from '../../data/acquiring.ts';
import { lockClaimant } from '../../data/claimants.ts';
import {
  addContributor,
  type ExecutionRow,
  findExecutionForTarget,
  insertExecution,
  toExecution,
} from '../../data/executions.ts';
import { grantedRow, grantLease, toHeldLease, addSeconds, newGrant } from '../../data/leases.ts';
import { type ExceededBudget, exceededBudgetFor, listExceededBudgets } from '../../data/exceeded-budgets.ts';
import { extendLocks } from '../../data/locks.ts';
import { transferLocks } from '../../data/passing-locks.ts';
import { listUndeliveredEvents, signalsFor } from '../../data/signals.ts';
import {
  targetSubject,
  getTarget,
  isTargetFinished,
  projectOfTargetSql,
  type DeliveryTarget,
} from '../../data/targets.ts';
import { applyTransition } from '../../leases/step.ts';
import { endConflictingLeases } from '../../leases/superseding.ts';
import { writeStep } from '../../leases/write-step.ts';
import { type AcquireDecision, decideAcquire, leaseHeldDetails, type Holder } from '../../rules/acquire.ts';
import { leaseDurationSeconds } from '../../rules/ttl.ts';

type AcquireOperation = typeof deliveryRegistry.deliveryExecutions.acquire;
export type GrantContext = Pick<
  HandlerContext<AcquireOperation>,
  'caller' | 'db' | 'policy' | 'projectRank' | 'emit' | 'refuse' | 'perform'
>;

/** The caller's wishes for the lease and for the work under it. */
export interface LeaseRequest {
  readonly ttlSeconds?: number | undefined;
  readonly runId?: string | undefined;
  readonly deviceId?: string | undefined;
  readonly phase?: ResultOf<AcquireOperation>['execution']['phase'] | undefined;
  readonly start: boolean;
  readonly takeOver: boolean;
  /** True if the caller names the target; false if a search found it. */
  readonly isTargetNamed: boolean;
}

/** Returns the caller as a lease holder. */
export const toHolder = (
  { caller }: Pick<GrantContext, 'caller'>,
  { runId }: Pick<LeaseRequest, 'runId'>,
): Holder => ({
  memberId: caller.memberId,
  agentId: caller.agentId,
  runId: runId ?? null,
});

/** Moves a story to in_progress if its work has not begun. */
async function startStory(
  { perform, db }: GrantContext,
  story: Pick<DeliveryTarget, 'id' | 'status'>,
): Promise<void> {
  const isSentBack =
    story.status === 'in_review' &&
    (await findExecutionForTarget(db, 'story', story.id))?.execution.needs_rework === true;
  if (!movesToStart(story.status, isSentBack)) return;
  await perform(updateStoryStatus, { storyId: story.id, status: 'in_progress' });
}

/**
 * The rank of the caller's role that is passed for calls that take over no lease. No decision about such
 * calls uses the rank, and reading the real rank would cost five tables.
 */
export const unusedRank = 0;

/** Takes the lease on a target. Throws a refusal if that is not possible. */
export async function acquireTarget(
  context: GrantContext,
  type: ExecutionTarget,
  id: IdOrSql,
  request: LeaseRequest,
): Promise<ResultOf<AcquireOperation>> {
  const { caller, db, policy: askPolicy, projectRank } = context;
  // Lock order: moving the story locks columns, which come before leases, so the move goes first.
  if (request.start && type === 'story') {
    const [, story] = await Promise.all([lockClaimant(db, caller), getTarget(db, type, id)]);
    await startStory(context, story);
  }
  const [, exceeded, facts, policy, rank] = await Promise.all([
    lockClaimant(db, caller),
    caller.agentId === null ? [] : listExceededBudgets(db, projectOfTargetSql(type, id), caller.agentId),
    lockForAcquire(db, type, id),
    askPolicy(),
    request.takeOver ? projectRank() : unusedRank,
  ]);
  const decision = decideGrant(context, facts, request, rank, exceeded);
  if (decision.kind === 'refuse') throw toRefusal(context, facts, decision, rank, exceeded);
  return grantLeaseOnTarget(context, facts, decision, request, policy);
}

/** Decides an acquire from the locked rows. */
export function decideGrant(
  context: GrantContext,
  facts: LockedAcquireRows,
  request: LeaseRequest,
  rank: number,
  exceeded: readonly ExceededBudget[],
): AcquireDecision {
  const { target, lease, now } = facts;
  if (isTargetFinished(target)) throw context.refuse('invalid_transition', { status: target.status });
  return decideAcquire({
    now,
    caller: toHolder(context, request),
    isLead: rank >= leadRank,
    takeOver: request.takeOver,
    targetLease: toHeldLease(lease),
    rivalLeases: facts.heldRivalLeases,
    execution: toOpenExecution(facts.execution),
    hasOpenChildren: facts.openChildKeys.length > 0,
    isStopped: findStoppedExecution(facts) !== undefined,
    isOverBudget: exceededBudgetFor(exceeded, target.id) !== undefined,
    isTargetNamed: request.isTargetNamed,
    mayLiftStop: context.caller.agentId === null && request.isTargetNamed,
    rivalExecutions: facts.rivalExecutions.map(toOpenExecution).filter((rival) => rival !== null),
  });
}

/** Returns the execution on whose row it is stored that work on the target was stopped. */
const findStoppedExecution = ({ execution, stoppedExecution }: LockedAcquireRows): ExecutionRow | undefined =>
  [execution, stoppedExecution].find((row) => row !== undefined && row.stop_requested !== null);

type DecisionOfKind<Kind> = Extract<AcquireDecision, { readonly kind: Kind }>;

function toRefusal(
  { refuse, caller }: GrantContext,
  facts: LockedAcquireRows,
  decision: DecisionOfKind<'refuse'>,
  rank: number,
  exceeded: readonly ExceededBudget[],
): ApiError {
  if (decision.reason === 'take_over_forbidden')
    return forbidden('take_over', undefined, { needed: 'lead', held: projectRoles[rank - 1] });
  if (decision.reason === 'lease_held') {
    const { conflictingLease: by } = decision;
    const work = [facts.execution, ...facts.rivalExecutions].find((row) => row?.target_id === by.targetId);
    return refuse('lease_held', leaseHeldDetails(by, caller, work?.id ?? null));
  }
  if (decision.reason === 'has_children') return refuse('has_children', { children: facts.openChildKeys });
  if (decision.reason === 'budget_exceeded')
    return refuse('budget_exceeded', { budget: exceededBudgetFor(exceeded, facts.target.id)?.budget });
  if (decision.reason === 'reserved') return refuse('reserved', { offer: decision.offer });
  const { stop_requested: stop } = findStoppedExecution(facts) ?? {};
  return refuse('stop_requested', {
    stopRequested: stop && { by: stop.by, reason: stop.reason, at: stop.at },
  });
}

function emitGrant(
  { emit }: GrantContext,
  target: LockedAcquireRows['target'],
  { id: executionId, attempt }: ExecutionRow,
  { superseded, wasLiveLeaseTakenOver: live }: DecisionOfKind<'grant'>,
  resumed: boolean,
): void {
  const about = targetSubject(target);
  emit('execution.acquired', about, { executionId, attempt, resumed });
  if (superseded === null) return;
  const { memberId: fromMemberId, agentId: fromAgentId } = superseded.holder;
  emit('execution.superseded', about, { executionId, fromMemberId, fromAgentId, live, joining: false });
}

/** Writes a positive decision, and returns the execution with its lease token. */
export async function grantLeaseOnTarget(
  context: GrantContext,
  facts: LockedAcquireRows,
  decision: Exclude<AcquireDecision, { readonly kind: 'refuse' }>,
  request: LeaseRequest,
  policy: Policy,
): Promise<ResultOf<AcquireOperation>> {
  const { caller, db, emit } = context;
  const { target, lease, now } = facts;
  const me = toHolder(context, request);
  const { runId } = me;
  const extends_ = decision.kind === 'extend';
  const { grant: granted, leaseToken } = newGrant(lease, caller, {
    isExtension: extends_,
    runId,
    ttlSeconds: leaseDurationSeconds(request.ttlSeconds, policy),
    now,
  });

  const stopped = findStoppedExecution(facts);
  const before = { ...(facts.execution ?? newExecution(target, now)), stop_requested: null };
  const isNew = facts.execution === undefined;
  const signals = extends_ ? signalsFor(me, before, await listUndeliveredEvents(db, before)) : [];
  const taken = extends_ ? null : decision.superseded;
  const takenOverLive = !extends_ && decision.wasLiveLeaseTakenOver;
  const attempt = before.attempt + 1;
  const transition = extends_ ? 'renew' : isNew ? 'begin' : decision.offered ? 'accept' : 'acquire';
  const taking = applyTransition(before, transition, {
    now,
    sets: {
      ...(stopped !== undefined && { stop_requested: null }),
      ...(request.phase !== undefined && { phase: request.phase }),
      ...(request.deviceId !== undefined && { device_id: request.deviceId }),
      ...(!extends_ && {
        epoch: granted.newEpoch,
        attempt,
        run_id: runId,
        device_id: request.deviceId ?? null,
        spec_version: target.specVersion,
      }),
    },
    precedingEvents: [
      ...(stopped === undefined || isNew ? [] : [{ kind: 'stop_lifted', data: {} } as const]),
      ...(taken === null
        ? []
        : [{ kind: 'taken_over', data: { from: taken.actor, live: takenOverLive } } as const]),
    ],
    data: { epoch: granted.newEpoch, attempt, runId },
    isHolderAware: true,
  });
  const changed = taking.row;
  // The leases are written first, because they fence the statements that follow.
  if (decision.kind === 'grant') {
    const { rivalLeaseRows: leases, rivalExecutions: executions } = facts;
    const ending = { leasesToEnd: decision.freedLeases, leases, executions, now, joining: false };
    await endConflictingLeases(context, ending);
  }
  db.deferToCommit(grantLease(granted));
  if (stopped !== undefined) {
    if (isNew) writeStep(context, applyTransition(stopped, 'liftStop', { now }), undefined);
    emit('execution.stopLifted', targetSubject(target), { executionId: stopped.id });
  }
  if (isNew) db.deferToCommit(insertExecution(taking, caller.actor));
  else writeStep(context, taking, lease);
  db.deferToCommit(addContributor(changed.id, caller, changed.attempt));
  const expiresAt = addSeconds(now, granted.ttlSeconds);
  if (extends_) db.deferToCommit(extendLocks(changed.id, expiresAt));
  if (decision.kind === 'grant') {
    if (decision.offered) await transferLocks(db, changed.id, { ...me, actor: caller.actor }, expiresAt);
    emitGrant(context, target, changed, decision, !isNew);
  }
  return {
    execution: toExecution(changed, grantedRow(lease, granted), now),
    leaseToken,
    resumed: !isNew,
    signals,
  };
}
