/**
 * Who may have a lease: decided from rows that are locked and a time read after they were, so nothing here can change
 * before it is written. Everything that an acquire can hear is in this function.
 */
import { type Actor, type ExecutionState, type ExecutionTarget } from '@muster/registry';
import { shownState } from '../leases/states.ts';

/** Member, agent and run; no run is a value of its own. */
export interface Holder {
  readonly memberId: string;
  readonly agentId: string | null;
  readonly runId: string | null;
}

export const isSameHolder = (a: Holder, b: Holder): boolean =>
  a.memberId === b.memberId && a.agentId === b.agentId && a.runId === b.runId;

/** A lease that is held, live or past its time. */
export interface HeldLease {
  readonly targetType: ExecutionTarget;
  readonly targetId: string;
  readonly holder: Holder;
  readonly actor: Actor;
  readonly expiresAt: string;
}

/** A live lease that is not this member's and agent's, in any run; null where there is none. */
export const heldByAnother = (
  lease: HeldLease | null | undefined,
  by: Pick<Holder, 'memberId' | 'agentId'>,
  now: string,
): HeldLease | null =>
  lease != null &&
  lease.expiresAt > now &&
  (lease.holder.memberId !== by.memberId || lease.holder.agentId !== by.agentId)
    ? lease
    : null;

/** Details of the blocking lease in a refusal; the run id only for the member or agent that owns the run. */
export const heldDetails = (
  { actor, holder, expiresAt, targetType, targetId }: HeldLease,
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
  /** By the database's clock, read when all rows were locked. */
  readonly now: string;
  readonly caller: Holder;
  readonly isLead: boolean;
  readonly takeOver: boolean;
  /** The unit's own lease, if it has a holder. */
  readonly own: HeldLease | null;
  /** The leases of units that exclude this one: a story's group, a group's stories. */
  readonly rivals: readonly HeldLease[];
  readonly execution: OpenExecution | null;
  /** A stop is in force on the target. */
  readonly isStopped: boolean;
  /** The caller is a member who names the target: this lifts a stop. */
  readonly liftsStop: boolean;
  /** What is open of those units: an offer of one reserves the other as well. */
  readonly rivalExecutions: readonly OpenExecution[];
}

export type AcquireDecision =
  /** The same holder goes on under the same epoch. */
  | { readonly kind: 'extend' }
  | {
      readonly kind: 'grant';
      /** The holder whose lease is taken, expired or live. */
      readonly superseded: HeldLease | null;
      readonly takenOverLive: boolean;
      /** The offer was this caller's: the locks taken for the work come along. */
      readonly offered: boolean;
      /** Expired leases of other units that are set free on the way. */
      readonly freed: readonly HeldLease[];
    }
  | { readonly kind: 'refuse'; readonly reason: 'lease_held'; readonly by: HeldLease }
  | { readonly kind: 'refuse'; readonly reason: 'reserved'; readonly offer: OpenExecution['offer'] }
  | { readonly kind: 'refuse'; readonly reason: 'stop_requested' | 'take_over_forbidden' };

export function decideAcquire(facts: AcquireFacts): AcquireDecision {
  const { now, caller, own, rivals, execution, rivalExecutions, isLead, takeOver } = facts;
  const isLive = (lease: HeldLease): boolean => lease.expiresAt > now;
  const isOurs = (lease: HeldLease): boolean => isSameHolder(lease.holder, caller);

  if (facts.isStopped && !facts.liftsStop) return { kind: 'refuse', reason: 'stop_requested' };
  if (own !== null && isOurs(own)) return { kind: 'extend' };

  const others = rivals.filter((lease) => !isOurs(lease));
  const inTheWay = others.find(isLive);
  if (inTheWay !== undefined) return { kind: 'refuse', reason: 'lease_held', by: inTheWay };
  const reservesToo = rivalExecutions.find((rival) => isReservedFromOthers(rival, caller, now));
  if (reservesToo !== undefined) return { kind: 'refuse', reason: 'reserved', offer: reservesToo.offer };

  const ownIsLive = own !== null && isLive(own);
  if (ownIsLive && !takeOver) return { kind: 'refuse', reason: 'lease_held', by: own };
  const isOffered = execution !== null && isReserved(execution, now);
  const isAnothers = execution !== null && isReservedFromOthers(execution, caller, now);
  if (isAnothers && !takeOver) return { kind: 'refuse', reason: 'reserved', offer: execution.offer };
  const isForced = (ownIsLive && !isOwnAgents(own, caller)) || isAnothers;
  if (isForced && !isLead) {
    return { kind: 'refuse', reason: 'take_over_forbidden' };
  }
  return {
    kind: 'grant',
    superseded: own,
    takenOverLive: ownIsLive,
    offered: isOffered && !isAnothers,
    freed: others,
  };
}

/** The caller is the member whose agent holds the lease. */
const isOwnAgents = ({ holder }: HeldLease, caller: Holder): boolean =>
  caller.agentId === null && holder.agentId !== null && holder.memberId === caller.memberId;

const isReserved = ({ state, offer }: OpenExecution, now: string): boolean =>
  state === 'offered' &&
  shownState(state, { now, leaseExpiresAt: null, offerExpiresAt: offer?.expiresAt ?? null }) === 'offered';

const isReservedFromOthers = (execution: OpenExecution, caller: Holder, now: string): boolean =>
  isReserved(execution, now) && (execution.offer === null || !isOfferedTo(execution.offer, caller));

/** A member accepts in person, an agent by its own token. */
export const isOfferedTo = (
  offer: Pick<NonNullable<OpenExecution['offer']>, 'toMemberId' | 'toAgentId'>,
  caller: Pick<Holder, 'memberId' | 'agentId'>,
): boolean =>
  offer.toAgentId === null
    ? offer.toMemberId === caller.memberId && caller.agentId === null
    : offer.toAgentId === caller.agentId;
