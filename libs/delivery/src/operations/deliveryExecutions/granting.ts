/** Grants a lease. A target that the caller names and one that a search found follow the same decision. */
import { type Id } from '@muster/driver';
import {
  type ExecutionTarget,
  movesToStart,
  leadRank,
  type Policy,
  projectRoles,
  registry,
  type ResultOf,
} from '@muster/registry';
import { type ApiError, forbidden, type HandlerContext } from '@muster/runtime';
import { type Acquiring, lockForAcquire, newExecution, toOpenExecution } from '../../data/acquiring.ts';
import { lockClaimant } from '../../data/claimants.ts';
import {
  addContributor,
  type ExecutionRow,
  findForTarget,
  insertExecution,
  toExecution,
} from '../../data/executions.ts';
import { grantedRow, grantLease, heldLease, later, newGrant } from '../../data/leases.ts';
import { keepLocks } from '../../data/locks.ts';
import { passLocks } from '../../data/passing-locks.ts';
import { listSignals, signalsFor } from '../../data/signals.ts';
import { aboutTarget, getTarget, isOver, type DeliveryTarget } from '../../data/targets.ts';
import { step } from '../../leases/step.ts';
import { endInTheWay } from '../../leases/superseding.ts';
import { writeStep } from '../../leases/write-step.ts';
import { type AcquireDecision, decideAcquire, heldDetails, type Holder } from '../../rules/acquire.ts';
import { leaseTtl } from '../../rules/ttl.ts';

type Acquire = typeof registry.deliveryExecutions.acquire;
export type GrantContext = Pick<
  HandlerContext<Acquire>,
  'caller' | 'db' | 'policy' | 'projectRank' | 'emit' | 'refuse' | 'perform'
>;

/** The caller's wishes for the lease and for the work under it. */
export interface LeaseRequest {
  readonly ttlSeconds?: number | undefined;
  readonly runId?: string | undefined;
  readonly deviceId?: string | undefined;
  readonly phase?: ResultOf<Acquire>['execution']['phase'] | undefined;
  readonly start: boolean;
  readonly takeOver: boolean;
  /** True if the caller names the target; false if a search found it. */
  readonly isNamed: boolean;
}

/** Returns the caller as a lease holder. */
export const holderOf = (
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
    (await findForTarget(db, 'story', story.id))?.execution.needs_rework === true;
  if (!movesToStart(story.status, isSentBack)) return;
  await perform(registry.stories.updateStatus, { storyId: story.id, status: 'in_progress' });
}

/**
 * The rank of the caller's role that is passed for calls that take over no lease. No decision about such
 * calls uses the rank, and reading the real rank would cost five tables.
 */
export const noRank = 0;

/** Takes the lease on a target. Throws a refusal if that is not possible. */
export async function acquireTarget(
  context: GrantContext,
  type: ExecutionTarget,
  id: Id,
  wanted: LeaseRequest,
): Promise<ResultOf<Acquire>> {
  const { caller, db, policy: askPolicy, projectRank } = context;
  // Lock order: moving the story locks columns, which come before leases, so the move goes first.
  if (wanted.start && type === 'story') {
    const [, story] = await Promise.all([lockClaimant(db, caller), getTarget(db, type, id)]);
    await startStory(context, story);
  }
  const [, facts, policy, rank] = await Promise.all([
    lockClaimant(db, caller),
    lockForAcquire(db, type, id),
    askPolicy(),
    wanted.takeOver ? projectRank() : noRank,
  ]);
  const decision = decide(context, facts, wanted, rank);
  if (decision.kind === 'refuse') throw refusalOf(context, facts, decision, rank);
  return grant(context, facts, decision, wanted, policy);
}

/** Decides an acquire from the locked rows. */
export function decide(
  context: GrantContext,
  facts: Acquiring,
  wanted: LeaseRequest,
  rank: number,
): AcquireDecision {
  const { target, lease, now } = facts;
  if (isOver(target)) throw context.refuse('invalid_transition', { status: target.status });
  return decideAcquire({
    now,
    caller: holderOf(context, wanted),
    isLead: rank >= leadRank,
    takeOver: wanted.takeOver,
    own: heldLease(lease),
    rivals: facts.rivals,
    execution: toOpenExecution(facts.execution),
    isStopped: stoppedIn(facts) !== undefined,
    liftsStop: context.caller.agentId === null && wanted.isNamed,
    rivalExecutions: facts.rivalExecutions.map(toOpenExecution).filter((rival) => rival !== null),
  });
}

/** Returns the execution that carries the target's stop. */
const stoppedIn = ({ execution, stopped }: Acquiring): ExecutionRow | undefined =>
  [execution, stopped].find((row) => row !== undefined && row.stop_requested !== null);

type Decided<Kind> = Extract<AcquireDecision, { readonly kind: Kind }>;

function refusalOf(
  { refuse, caller }: GrantContext,
  facts: Acquiring,
  decision: Decided<'refuse'>,
  rank: number,
): ApiError {
  if (decision.reason === 'take_over_forbidden') {
    return forbidden('take_over', undefined, { needed: 'lead', held: projectRoles[rank - 1] });
  }
  if (decision.reason === 'lease_held') {
    const { by } = decision;
    const work = [facts.execution, ...facts.rivalExecutions].find((row) => row?.target_id === by.targetId);
    return refuse('lease_held', heldDetails(by, caller, work?.id ?? null));
  }
  if (decision.reason === 'reserved') return refuse('reserved', { offer: decision.offer });
  const { stop_requested: stop } = stoppedIn(facts) ?? {};
  return refuse('stop_requested', {
    stopRequested: stop && { by: stop.by, reason: stop.reason, at: stop.at },
  });
}

function emitGrant(
  { emit }: GrantContext,
  target: Acquiring['target'],
  { id: executionId, attempt }: ExecutionRow,
  { superseded, takenOverLive: live }: Decided<'grant'>,
  resumed: boolean,
): void {
  const about = aboutTarget(target);
  emit('execution.acquired', about, { executionId, attempt, resumed });
  if (superseded === null) return;
  const { memberId: fromMemberId, agentId: fromAgentId } = superseded.holder;
  emit('execution.superseded', about, { executionId, fromMemberId, fromAgentId, live, joining: false });
}

/** Writes a positive decision, and returns the execution with its lease token. */
export async function grant(
  context: GrantContext,
  facts: Acquiring,
  decision: Exclude<AcquireDecision, { readonly kind: 'refuse' }>,
  wanted: LeaseRequest,
  policy: Policy,
): Promise<ResultOf<Acquire>> {
  const { caller, db, emit } = context;
  const { target, lease, now } = facts;
  const me = holderOf(context, wanted);
  const { runId } = me;
  const extends_ = decision.kind === 'extend';
  const { grant: granted, leaseToken } = newGrant(lease, caller, {
    extends: extends_,
    runId,
    ttlSeconds: leaseTtl(wanted.ttlSeconds, policy),
    now,
  });

  const stopped = stoppedIn(facts);
  const before = { ...(facts.execution ?? newExecution(target, now)), stop_requested: null };
  const isNew = facts.execution === undefined;
  const signals = extends_ ? signalsFor(me, before, await listSignals(db, before)) : [];
  const taken = extends_ ? null : decision.superseded;
  const takenOverLive = !extends_ && decision.takenOverLive;
  const attempt = before.attempt + 1;
  const transition = extends_ ? 'renew' : isNew ? 'begin' : decision.offered ? 'accept' : 'acquire';
  const taking = step(before, transition, {
    now,
    sets: {
      ...(stopped !== undefined && { stop_requested: null }),
      ...(wanted.phase !== undefined && { phase: wanted.phase }),
      ...(wanted.deviceId !== undefined && { device_id: wanted.deviceId }),
      ...(!extends_ && {
        epoch: granted.newEpoch,
        attempt,
        run_id: runId,
        device_id: wanted.deviceId ?? null,
        spec_version: target.specVersion,
      }),
    },
    earlier: [
      ...(stopped === undefined || isNew ? [] : [{ kind: 'stop_lifted', data: {} } as const]),
      ...(taken === null
        ? []
        : [{ kind: 'taken_over', data: { from: taken.actor, live: takenOverLive } } as const]),
    ],
    data: { epoch: granted.newEpoch, attempt, runId },
    tellsHolder: true,
  });
  const changed = taking.row;
  // The leases are written first, because they fence the statements that follow.
  if (decision.kind === 'grant') {
    const { rivalRows: leases, rivalExecutions: executions } = facts;
    await endInTheWay(context, { freed: decision.freed, leases, executions, now, joining: false });
  }
  db.later(grantLease(granted));
  if (stopped !== undefined) {
    if (isNew) writeStep(context, step(stopped, 'liftStop', { now }), undefined);
    emit('execution.stopLifted', aboutTarget(target), { executionId: stopped.id });
  }
  if (isNew) db.later(insertExecution(taking, caller.actor));
  else writeStep(context, taking, lease);
  db.later(addContributor(changed.id, caller, changed.attempt));
  const expiresAt = later(now, granted.ttlSeconds);
  if (extends_) db.later(keepLocks(changed.id, expiresAt));
  if (decision.kind === 'grant') {
    if (decision.offered) {
      await passLocks(db, changed.id, { ...me, actor: caller.actor }, expiresAt);
    }
    emitGrant(context, target, changed, decision, !isNew);
  }
  return {
    execution: toExecution(changed, grantedRow(lease, granted), now),
    leaseToken,
    resumed: !isNew,
    signals,
  };
}
