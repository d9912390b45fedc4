/** The coordinator's calls on a delivery group. */
import { withNextVersion } from '@muster/driver';
import { type Group, type Signal } from '@muster/contract';
import { lockCoordinationLease } from '../data/group-leases.ts';
import { type UndeliveredGroupSignals, listGroupSignals } from '../data/group-signals.ts';
import {
  withChangeColumns,
  type GroupChanges,
  type GroupRow,
  lockGroup,
  updateGroup,
  toGroup,
  withoutLease,
} from '../data/groups.ts';
import { freeLease, readClock } from '../data/leases.ts';
import {
  checkHolderToEnd,
  checkHolder,
  type HolderContext,
  type LockedTargetWithLease,
  type LeaseHolder,
  renewLeaseAfterWrite,
  type LeaseWriteContext,
} from './holder.ts';

interface LockedGroup extends LockedTargetWithLease {
  readonly group: GroupRow;
  readonly undeliveredSignals: UndeliveredGroupSignals;
}

type GroupHolder = LeaseHolder<LockedGroup>;

interface GroupWithSignals {
  readonly group: Group;
  readonly signals: Signal[];
}

interface CoordinatorParams {
  readonly groupId: string;
  readonly leaseToken: string;
}

async function lockGroupAndLease({ db, caller }: HolderContext, groupId: string): Promise<LockedGroup> {
  const [group, lease, news, now] = await Promise.all([
    lockGroup(db, groupId),
    lockCoordinationLease(db, groupId),
    listGroupSignals(db, caller, groupId),
    readClock(db),
  ]);
  return { group, lease, undeliveredSignals: news, now };
}

/**
 * Checks that the caller is the coordinator, and loads the pending signals. Throws `stale_lease` otherwise.
 */
export const requireCoordinator = async (
  context: HolderContext,
  { groupId, leaseToken }: CoordinatorParams,
): Promise<GroupHolder> => checkHolder(context, await lockGroupAndLease(context, groupId), leaseToken);

/** Checks the coordinator for the call that ends the lease. Recognizes a repeated call as such. */
export const requireCoordinatorToEnd = async (
  context: HolderContext,
  { groupId, leaseToken }: CoordinatorParams,
  endingCall: string,
) => checkHolderToEnd(context, await lockGroupAndLease(context, groupId), { leaseToken, call: endingCall });

/** Returns the current group, as the answer to a repeated call. */
export const currentGroup = ({ group, lease }: LockedGroup): GroupWithSignals => ({
  group: toGroup(group, lease),
  signals: [],
});

/** Marks the signals as delivered on the row. This does not change the group's version. */
const withSignalsDelivered = ({ group, undeliveredSignals }: GroupHolder): GroupRow => ({
  ...group,
  told_seq: undeliveredSignals.lastDeliveredSeq,
});

/** Writes the coordinator's change, renews the lease, and returns the group with the pending signals. */
export function writeAndRenewLease(
  context: LeaseWriteContext,
  holder: GroupHolder,
  { changes, ttlSeconds }: { readonly changes?: GroupChanges; readonly ttlSeconds?: number | undefined },
): GroupWithSignals {
  const told = withSignalsDelivered(holder);
  const after = changes === undefined ? told : withNextVersion<GroupRow>(told, changes, holder.now);
  const columns: (keyof GroupChanges)[] =
    changes === undefined ? [] : withChangeColumns(Object.keys(changes) as (keyof GroupChanges)[]);
  const write = updateGroup(after, [...columns, 'told_seq'], holder.claim);
  const lease = renewLeaseAfterWrite(context, holder, write, ttlSeconds ?? holder.lease.ttl_seconds ?? 0);
  return { group: toGroup(after, lease), signals: holder.undeliveredSignals.signals };
}

/** Ends the lease on the coordinator's request. */
export function endCoordinationLease(
  { db }: LeaseWriteContext,
  holder: GroupHolder,
  endingCall: string,
): GroupWithSignals {
  const told = withSignalsDelivered(holder);
  const { lease, claim } = holder;
  db.deferToCommit(updateGroup(told, ['told_seq'], claim));
  db.deferToCommit(freeLease(lease, { claim, endingCall }));
  return { group: toGroup(withoutLease(told)), signals: holder.undeliveredSignals.signals };
}
