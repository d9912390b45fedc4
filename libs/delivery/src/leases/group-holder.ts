/** The coordinator's calls on a delivery group. */
import { nextVersion } from '@muster/driver';
import { type Group, type Signal } from '@muster/registry';
import { lockCoordination } from '../data/group-leases.ts';
import { type GroupNews, listGroupSignals } from '../data/group-signals.ts';
import {
  asChanged,
  type GroupChanges,
  type GroupRow,
  lockGroup,
  setGroup,
  toGroup,
  withoutLease,
} from '../data/groups.ts';
import { freeLease, readClock } from '../data/leases.ts';
import {
  checkEnder,
  checkHolder,
  type HolderContext,
  type Leased,
  type LeaseHolder,
  renewAfter,
  type Writer,
} from './holder.ts';

interface LockedGroup extends Leased {
  readonly group: GroupRow;
  readonly news: GroupNews;
}

type GroupHolder = LeaseHolder<LockedGroup>;

interface Answer {
  readonly group: Group;
  readonly signals: Signal[];
}

interface Asked {
  readonly groupId: string;
  readonly leaseToken: string;
}

async function lock({ db, caller }: HolderContext, groupId: string): Promise<LockedGroup> {
  const [group, lease, news, now] = await Promise.all([
    lockGroup(db, groupId),
    lockCoordination(db, groupId),
    listGroupSignals(db, caller, groupId),
    readClock(db),
  ]);
  return { group, lease, news, now };
}

/**
 * Checks that the caller is the coordinator, and loads the pending signals. Throws `stale_lease` otherwise.
 */
export const asCoordinator = async (
  context: HolderContext,
  { groupId, leaseToken }: Asked,
): Promise<GroupHolder> => checkHolder(context, await lock(context, groupId), leaseToken);

/** Checks the coordinator for the call that ends the lease. Recognizes a repeated call as such. */
export const asEnder = async (context: HolderContext, { groupId, leaseToken }: Asked, call: string) =>
  checkEnder(context, await lock(context, groupId), { leaseToken, call });

/** Returns the current group, as the answer to a repeated call. */
export const standing = ({ group, lease }: LockedGroup): Answer => ({
  group: toGroup(group, lease),
  signals: [],
});

/** Marks the signals as delivered on the row. This does not change the group's version. */
const asTold = ({ group, news }: GroupHolder): GroupRow => ({ ...group, told_seq: news.toldSeq });

/** Writes the coordinator's change, renews the lease, and returns the group with the pending signals. */
export function renewAndAnswer(
  context: Writer,
  holder: GroupHolder,
  { changes, ttlSeconds }: { readonly changes?: GroupChanges; readonly ttlSeconds?: number | undefined },
): Answer {
  const told = asTold(holder);
  const after = changes === undefined ? told : nextVersion<GroupRow>(told, changes, holder.now);
  const columns: (keyof GroupChanges)[] =
    changes === undefined ? [] : asChanged(Object.keys(changes) as (keyof GroupChanges)[]);
  const write = setGroup(after, [...columns, 'told_seq'], holder.claim);
  const lease = renewAfter(context, holder, write, ttlSeconds ?? holder.lease.ttl_seconds ?? 0);
  return { group: toGroup(after, lease), signals: holder.news.signals };
}

/** Ends the lease on the coordinator's request. */
export function endLease({ db }: Writer, holder: GroupHolder, call: string): Answer {
  const told = asTold(holder);
  const { lease, claim } = holder;
  db.later(setGroup(told, ['told_seq'], claim));
  db.later(freeLease(lease, { claim, call }));
  return { group: toGroup(withoutLease(told)), signals: holder.news.signals };
}
