/**
 * What every call of a lease's holder does alike, on an execution as on the coordination of a group: lease and row are
 * locked, the newest grant alone is let on, and what it does begins its time anew or ends it.
 */
import { type Db, type Query } from '@muster/driver';
import { type ApiError, type Caller } from '@muster/runtime';
import { endedBy, holds, type LeaseRow, renewed } from '../data/leases.ts';
import { claimOf, type LeaseClaim } from '../rules/lease-tokens.ts';

export interface HolderContext {
  readonly db: Db;
  readonly caller: Caller;
  readonly refuse: (reason: 'stale_lease', details: Record<string, unknown>) => ApiError;
}
export type Writer = Pick<HolderContext, 'db' | 'caller'>;

/** What can be held, locked together with its lease. */
export interface Leased {
  /** undefined where it was never held. */
  readonly lease: LeaseRow | undefined;
  /** By the database's clock, when both were locked. */
  readonly now: string;
}

/** What is held by the caller, whose grant is the newest. */
export type LeaseHolder<Unit extends Leased> = Unit & {
  readonly kind: 'held';
  readonly lease: LeaseRow;
  readonly claim: LeaseClaim;
};

/** The same token ended the grant by this same call before: it is repeated. */
export type RepeatedEnd<Unit extends Leased> = Unit & { readonly kind: 'repeated' };

/** Whether the grant is about this unit as it is. */
type IsHeldBy<Unit> = (unit: Unit, claim: LeaseClaim) => boolean;

/** Lets the holder of the newest grant on. Any other token, also a made-up one or that of another member, is refused as stale. */
export function checkHolder<Unit extends Leased>(
  { caller, refuse }: HolderContext,
  unit: Unit,
  leaseToken: string,
  isHeldBy: IsHeldBy<Unit> = () => true,
): LeaseHolder<Unit> {
  const claim = claimOf(leaseToken);
  const { lease } = unit;
  if (lease !== undefined && holds(lease, claim, caller) && isHeldBy(unit, claim))
    return { ...unit, kind: 'held', lease, claim };
  throw refuse('stale_lease', { currentEpoch: lease?.epoch ?? 0 });
}

/** The same for a call that ends the grant; a token that ended it by this same `call` may hear again how things are. */
export const checkEnder = <Unit extends Leased>(
  context: HolderContext,
  unit: Unit,
  { leaseToken, call }: { readonly leaseToken: string; readonly call: string },
  isHeldBy?: IsHeldBy<Unit>,
): LeaseHolder<Unit> | RepeatedEnd<Unit> =>
  endedBy(unit.lease, claimOf(leaseToken), call)
    ? { ...unit, kind: 'repeated' }
    : checkHolder(context, unit, leaseToken, isHeldBy);

/** Writes what the holder did, if anything, and begins the lease's time anew: any operation of the holder renews. */
export function renewAfter(
  { db }: Writer,
  holder: LeaseHolder<Leased>,
  write: Query<unknown> | null,
  ttlSeconds: number,
): LeaseRow {
  if (write !== null) db.later(write);
  const { lease, query } = renewed(holder, ttlSeconds);
  db.later(query);
  return lease;
}
