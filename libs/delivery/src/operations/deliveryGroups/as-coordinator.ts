/** What every operation of a group's coordinator does alike: it locks group and lease, and lets only the newest grant on. */
import { type Db } from '@muster/database';
import { type Group, type Signal } from '@muster/registry';
import { type ApiError, type Caller } from '@muster/runtime';
import { lockCoordination } from '../../data/group-leases.ts';
import { type GroupNews, listGroupSignals } from '../../data/group-signals.ts';
import {
  asChanged,
  changedGroup,
  type GroupChanges,
  type GroupRow,
  lockGroup,
  setGroup,
  toGroup,
} from '../../data/groups.ts';
import { endedBy, holds, type LeaseRow, readClock, renewed } from '../../data/leases.ts';
import { claimOf, type LeaseClaim } from '../../rules/lease-tokens.ts';

/** Group and lease, locked, of whoever holds the newest grant. */
export interface GroupGrip {
  readonly kind: 'held';
  readonly group: GroupRow;
  readonly lease: LeaseRow;
  readonly claim: LeaseClaim;
  readonly now: string;
  readonly news: GroupNews;
}

interface Answer {
  readonly group: Group;
  readonly signals: Signal[];
}

/** The same token ended the grant by this same operation before: its call is repeated. */
interface Repeated {
  readonly kind: 'repeated';
  readonly answer: Answer;
}

interface Context {
  readonly db: Db;
  readonly caller: Caller;
  readonly refuse: (reason: 'stale_lease', details: Record<string, unknown>) => ApiError;
}

/** As `asHolder` does for an execution: any other token than the newest grant's is refused as stale. */
export async function asCoordinator(
  { db, caller, refuse }: Context,
  { groupId, leaseToken }: { readonly groupId: string; readonly leaseToken: string },
  operation: string,
): Promise<GroupGrip | Repeated> {
  const claim = claimOf(leaseToken);
  const [group, lease, news, now] = await Promise.all([
    lockGroup(db, caller.orgId, groupId),
    lockCoordination(db, caller.orgId, groupId),
    listGroupSignals(db, caller, groupId),
    readClock(db),
  ]);
  if (lease !== undefined && holds(lease, claim, caller)) {
    return { kind: 'held', group, lease, claim, now, news };
  }
  if (endedBy(lease, claim, operation)) {
    return { kind: 'repeated', answer: { group: toGroup(group, lease), signals: [] } };
  }
  throw refuse('stale_lease', { currentEpoch: lease?.epoch ?? 0 });
}

/** Writes what the coordinator did, renews, and answers with what it should know. */
export function goOn(
  { db, caller }: Pick<Context, 'db' | 'caller'>,
  { group, lease, claim, now, news }: GroupGrip,
  { changes, ttlSeconds }: { readonly changes?: GroupChanges; readonly ttlSeconds?: number | undefined },
): Answer {
  const again = renewed(caller.orgId, { lease, claim, now }, ttlSeconds ?? lease.ttl_seconds ?? 0);
  const told = { ...group, told_seq: news.toldSeq };
  // That somebody was told is no change to the group.
  const after = changes === undefined ? told : changedGroup(told, changes, now);
  const columns: (keyof GroupChanges)[] =
    changes === undefined ? [] : asChanged(Object.keys(changes) as (keyof GroupChanges)[]);
  db.later(setGroup(caller.orgId, after, [...columns, 'told_seq'], claim));
  db.later(again.query);
  return { group: toGroup(after, again.lease), signals: news.signals };
}
