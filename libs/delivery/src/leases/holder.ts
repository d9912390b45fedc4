/**
 * The steps that all calls of a lease holder share, on an execution as on a delivery group. Each call locks
 * the lease and its row, accepts only the newest grant, and then renews or ends the lease.
 */
import { type Db, type Query } from '@muster/driver';
import { type ApiError, type Caller } from '@muster/runtime';
import { wasEndedByCall, isCurrentClaim, type LeaseRow, renewedLease } from '../data/leases.ts';
import { parseLeaseToken, type LeaseClaim } from '../rules/lease-tokens.ts';

export interface HolderContext {
  readonly db: Db;
  readonly caller: Caller;
  readonly refuse: (reason: 'stale_lease', details: Record<string, unknown>) => ApiError;
}
export type LeaseWriteContext = Pick<HolderContext, 'db' | 'caller'>;

/** An execution or group, locked together with its lease. */
export interface LockedTargetWithLease {
  /** The lease; undefined if the story or group was never held. */
  readonly lease: LeaseRow | undefined;
  /** The database's time when the lease and the execution or group were locked. */
  readonly now: string;
}

/** A locked story or group that the caller holds under the newest grant. */
export type LeaseHolder<Unit extends LockedTargetWithLease> = Unit & {
  readonly kind: 'held';
  readonly lease: LeaseRow;
  readonly claim: LeaseClaim;
};

/**
 * A story or group whose grant was already ended by the same call with the same token. The current call is
 * therefore a repetition.
 */
export type RepeatedLeaseEnd<Unit extends LockedTargetWithLease> = Unit & { readonly kind: 'repeated' };

/** Returns true if the lease claim still applies to the story or group in its current state. */
type GrantCheck<Unit> = (unit: Unit, claim: LeaseClaim) => boolean;

/**
 * Returns the story or group as held if the token is that of the newest grant. Refuses any other token as
 * stale, including a made-up token or a token of another member.
 */
export function checkHolder<Unit extends LockedTargetWithLease>(
  { caller, refuse }: HolderContext,
  unit: Unit,
  leaseToken: string,
  isGrantValid: GrantCheck<Unit> = () => true,
): LeaseHolder<Unit> {
  const claim = parseLeaseToken(leaseToken);
  const { lease } = unit;
  if (lease !== undefined && isCurrentClaim(lease, claim, caller) && isGrantValid(unit, claim))
    return { ...unit, kind: 'held', lease, claim };
  throw refuse('stale_lease', { currentEpoch: lease?.epoch ?? 0 });
}

/**
 * Checks the holder for a call that ends the grant. If the same `call` with the same token already ended the
 * grant, the caller may read the result again.
 */
export const checkHolderToEnd = <Unit extends LockedTargetWithLease>(
  context: HolderContext,
  unit: Unit,
  { leaseToken, call }: { readonly leaseToken: string; readonly call: string },
  isGrantValid?: GrantCheck<Unit>,
): LeaseHolder<Unit> | RepeatedLeaseEnd<Unit> =>
  wasEndedByCall(unit.lease, parseLeaseToken(leaseToken), call)
    ? { ...unit, kind: 'repeated' }
    : checkHolder(context, unit, leaseToken, isGrantValid);

/**
 * Sends the holder's write, if there is one, and restarts the lease's time. Every operation of a holder
 * renews its lease.
 */
export function renewLeaseAfterWrite(
  { db }: LeaseWriteContext,
  holder: LeaseHolder<LockedTargetWithLease>,
  write: Query<unknown> | null,
  ttlSeconds: number,
): LeaseRow {
  if (write !== null) db.deferToCommit(write);
  const { lease, query } = renewedLease(holder, ttlSeconds);
  db.deferToCommit(query);
  return lease;
}
