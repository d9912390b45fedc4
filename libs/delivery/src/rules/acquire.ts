/**
 * Decides an acquire. Its input is locked rows and a time read after they were locked, so no fact can change
 * before the result is written. `decideAcquire` returns every possible outcome.
 */
import { type Actor, type ExecutionState, type ExecutionTarget } from '@muster/contract';
import { visibleState } from '../leases/states.ts';

/**
 * A lease holder: a member, its agent and the run. Two holders differ if their runs differ; a missing run
 * counts as a value.
 */
export interface Holder {
  readonly memberId: string;
  readonly agentId: string | null;
  readonly runId: string | null;
}

export const isSameHolder = (a: Holder, b: Holder): boolean =>
  a.memberId === b.memberId && a.agentId === b.agentId && a.runId === b.runId;

/** A lease with a holder, live or expired. */
export interface LeaseWithHolder {
  readonly targetType: ExecutionTarget;
  readonly targetId: string;
  readonly holder: Holder;
  readonly actor: Actor;
  readonly expiresAt: string;
}

/**
 * Returns the lease if it is live and held by another member or agent; null otherwise. The run does not
 * matter.
 */
export const findLiveLeaseOfAnother = (
  lease: LeaseWithHolder | null | undefined,
  caller: Pick<Holder, 'memberId' | 'agentId'>,
  now: string,
): LeaseWithHolder | null =>
  lease != null &&
  lease.expiresAt > now &&
  (lease.holder.memberId !== caller.memberId || lease.holder.agentId !== caller.agentId)
    ? lease
    : null;

/**
 * Returns the details of the blocking lease in a refusal. Only the member or agent that owns the run sees the
 * run's ID.
 */
export const leaseHeldDetails = (
  { actor, holder, expiresAt, targetType, targetId }: LeaseWithHolder,
  caller: Pick<Holder, 'memberId' | 'agentId'>,
  executionId: string | null,
): Record<string, unknown> => {
  const yours = holder.memberId === caller.memberId && holder.agentId === caller.agentId;
  return {
    ...{ holder: actor, yours, ...(yours && { runId: holder.runId }), executionId },
    ...{ expiresAt, targetType, targetId, retryable: false },
  };
};

export interface OpenExecution {
  readonly state: Exclude<ExecutionState, 'stalled'>;
  readonly offer: {
    readonly toMemberId: string | null;
    readonly toAgentId: string | null;
    readonly expiresAt: string;
  } | null;
}

export interface AcquireFacts {
  /** The database's time after the target, its leases and its executions were locked. */
  readonly now: string;
  readonly caller: Holder;
  readonly isLead: boolean;
  readonly takeOver: boolean;
  /** The lease on the target itself; null without a holder. */
  readonly targetLease: LeaseWithHolder | null;
  /**
   * The leases that exclude a lease on the target: the lease of a story's group, or the leases of a group's
   * stories.
   */
  readonly rivalLeases: readonly LeaseWithHolder[];
  readonly execution: OpenExecution | null;
  /** True if the target is a story with children that are not finished. */
  readonly hasOpenChildren: boolean;
  /** True if a stop is in force on the target. */
  readonly isStopped: boolean;
  /** True if the caller is an agent and a budget that stops work is used up. */
  readonly isOverBudget: boolean;
  /** True if the caller names the target; false if a search found it. */
  readonly isTargetNamed: boolean;
  /** True if the caller is a member who names the target; such a grant lifts a stop. */
  readonly mayLiftStop: boolean;
  /**
   * The open executions of the stories or groups that have the leases in `rivals`. An offer of one of these
   * executions also reserves the target.
   */
  readonly rivalExecutions: readonly OpenExecution[];
}

/**
 * The time in seconds for which a search leaves an expired lease to its holder, who may only be without
 * network. A caller who names the target can claim the lease as soon as it expires.
 */
export const expiredLeaseGraceSeconds = 300;

export type AcquireDecision =
  /** The holder keeps its lease, and the epoch does not change. */
  | { readonly kind: 'extend' }
  | {
      readonly kind: 'grant';
      /** The holder that loses the lease, which may be live or expired. */
      readonly superseded: LeaseWithHolder | null;
      readonly wasLiveLeaseTakenOver: boolean;
      /**
       * True if the work was offered to this caller. The locks taken for the work then pass to the caller.
       */
      readonly offered: boolean;
      /** The expired leases on other stories or groups that end with this grant. */
      readonly freedLeases: readonly LeaseWithHolder[];
    }
  | { readonly kind: 'refuse'; readonly reason: 'lease_held'; readonly conflictingLease: LeaseWithHolder }
  | { readonly kind: 'refuse'; readonly reason: 'reserved'; readonly offer: OpenExecution['offer'] }
  | {
      readonly kind: 'refuse';
      readonly reason: 'stop_requested' | 'budget_exceeded' | 'has_children' | 'take_over_forbidden';
    };

export function decideAcquire(facts: AcquireFacts): AcquireDecision {
  const { now, caller, targetLease, rivalLeases, execution, rivalExecutions, isLead, takeOver } = facts;
  const isLive = (lease: LeaseWithHolder): boolean => lease.expiresAt > now;
  const isKept = (lease: LeaseWithHolder): boolean =>
    isLive(lease) || (!facts.isTargetNamed && isInGracePeriod(lease, now));
  const isOurs = (lease: LeaseWithHolder): boolean => isSameHolder(lease.holder, caller);

  if (facts.isStopped && !facts.mayLiftStop) return { kind: 'refuse', reason: 'stop_requested' };
  if (facts.isOverBudget) return { kind: 'refuse', reason: 'budget_exceeded' };
  if (targetLease !== null && isOurs(targetLease)) return { kind: 'extend' };
  if (facts.hasOpenChildren) return { kind: 'refuse', reason: 'has_children' };

  const others = rivalLeases.filter((lease) => !isOurs(lease));
  const inTheWay = others.find(isKept);
  if (inTheWay !== undefined) return { kind: 'refuse', reason: 'lease_held', conflictingLease: inTheWay };
  const reservesToo = rivalExecutions.find((rival) => isReservedFromOthers(rival, caller, now));
  if (reservesToo !== undefined) return { kind: 'refuse', reason: 'reserved', offer: reservesToo.offer };

  const ownIsLive = targetLease !== null && isLive(targetLease);
  if (targetLease !== null && isKept(targetLease) && !takeOver)
    return { kind: 'refuse', reason: 'lease_held', conflictingLease: targetLease };
  const isOffered = execution !== null && isReserved(execution, now);
  const isAnothers = execution !== null && isReservedFromOthers(execution, caller, now);
  if (isAnothers && !takeOver) return { kind: 'refuse', reason: 'reserved', offer: execution.offer };
  const isForced = (ownIsLive && !isHeldByOwnAgent(targetLease, caller)) || isAnothers;
  if (isForced && !isLead) return { kind: 'refuse', reason: 'take_over_forbidden' };
  return {
    kind: 'grant',
    superseded: targetLease,
    wasLiveLeaseTakenOver: ownIsLive,
    offered: isOffered && !isAnothers,
    freedLeases: others,
  };
}

/** Reports whether a search still leaves the expired lease to its holder. */
const isInGracePeriod = ({ expiresAt }: LeaseWithHolder, now: string): boolean =>
  Date.parse(now) - Date.parse(expiresAt) < expiredLeaseGraceSeconds * 1_000;

/**
 * Reports whether the caller is the member whose agent holds the lease, or another run of that agent. A
 * runner that continues the work of a dead machine is such a run.
 */
const isHeldByOwnAgent = ({ holder }: LeaseWithHolder, caller: Holder): boolean =>
  holder.agentId !== null &&
  holder.memberId === caller.memberId &&
  (caller.agentId === null || caller.agentId === holder.agentId);

const isReserved = ({ state, offer }: OpenExecution, now: string): boolean =>
  state === 'offered' &&
  visibleState(state, { now, leaseExpiresAt: null, offerExpiresAt: offer?.expiresAt ?? null }) === 'offered';

const isReservedFromOthers = (execution: OpenExecution, caller: Holder, now: string): boolean =>
  isReserved(execution, now) && (execution.offer === null || !isOfferedTo(execution.offer, caller));

/**
 * Reports whether the offer is to this caller. A member accepts in person, and an agent with its own token.
 */
export const isOfferedTo = (
  offer: Pick<NonNullable<OpenExecution['offer']>, 'toMemberId' | 'toAgentId'>,
  caller: Pick<Holder, 'memberId' | 'agentId'>,
): boolean =>
  offer.toAgentId === null
    ? offer.toMemberId === caller.memberId && caller.agentId === null
    : offer.toAgentId === caller.agentId;
