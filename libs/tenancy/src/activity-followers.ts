/**
 * Notifies callers who wait for events of their organization, and callers who follow their own inbox there.
 * One statement reads the stream positions of all these organizations. Only where a position has advanced
 * does a second statement ask which waiting callers may see the new events. A caller is never woken by an
 * event that it may not see, so no response reveals when something hidden happens.
 */
import { queryOutsideOrg, type Pool, sql } from '@muster/driver';
import { awaitAll, groupByNode } from '@muster/placement';
import {
  type ActivityPosition,
  type Follower,
  maxPlacementAgeMillis,
  type WaitingCaller,
  type WaitingFollowers,
} from './waiting.ts';

/**
 * A follower with the activity position up to which its events were already checked. Only events after that
 * position are checked, once each.
 */
interface ActivityWaiter extends Follower<ActivityPosition> {
  checkedUpTo: number;
}

/**
 * A member's inbox that a caller follows. `place` is the last known cursor; it is undefined until the first
 * poll.
 */
interface FollowedInbox {
  readonly waiter: WaitingCaller;
  readonly onChange: () => void;
  seenChangeCount: number;
  lastCursor: string | undefined;
}

interface OrganizationPositions {
  readonly org_id: string;
  readonly activity: number;
  readonly moves: number;
}

type PositionsByOrg = ReadonlyMap<string, OrganizationPositions>;

export interface ActivityFollowers extends WaitingFollowers<ActivityPosition> {
  readonly inboxes: ReadonlySet<unknown>;
  /**
   * Calls `changed` after the first poll and after each poll that finds a changed inbox. Returns the function
   * that stops following.
   */
  readonly followInbox: (waiter: WaitingCaller, changed: () => void) => () => void;
}

export function createActivityFollowers(pool: Pool): ActivityFollowers {
  const waiting = new Set<ActivityWaiter>();
  const inboxes = new Set<FollowedInbox>();

  async function wakeReaders(nodePool: Pool, positionsByOrg: PositionsByOrg): Promise<void> {
    const behind = [...waiting].flatMap((looking) => {
      const upTo = positionsByOrg.get(looking.waiter.orgId)?.activity ?? 0;
      return upTo > looking.checkedUpTo ? [{ looking, upTo, after: looking.checkedUpTo }] : [];
    });
    if (behind.length === 0) return;
    const seen = await queryOutsideOrg(
      nodePool,
      sql<{ nth: number }>`select nth from app.activity_seen(
        ${behind.map(({ looking }) => looking.waiter.orgId)}, ${behind.map(({ looking }) => looking.waiter.memberId)},
        ${behind.map(({ looking }) => looking.waiter.tokenId)}, ${behind.map(({ after }) => after)},
        ${behind.map(({ upTo }) => upTo)}, ${behind.map(({ looking }) => looking.position.projectId)},
        ${behind.map(({ looking: { position } }) => position.kinds && `{${position.kinds.join(',')}}`)})`,
    );
    for (const { looking, upTo } of behind) looking.checkedUpTo = upTo;
    // guard: wakes only followers with access
    for (const { nth } of seen) behind[nth - 1]?.looking.wake();
  }

  async function notifyInboxFollowers(nodePool: Pool, positionsByOrg: PositionsByOrg): Promise<void> {
    const moved = [...inboxes].flatMap((inbox) => {
      const moves = positionsByOrg.get(inbox.waiter.orgId)?.moves;
      if (moves === undefined) return [];
      return inbox.lastCursor === undefined || moves > inbox.seenChangeCount ? [{ inbox, moves }] : [];
    });
    if (moved.length === 0) return;
    const rows = await queryOutsideOrg(
      nodePool,
      sql<{ nth: number; place: string }>`select nth, place from app.inbox_positions(
        ${moved.map(({ inbox }) => inbox.waiter.orgId)}, ${moved.map(({ inbox }) => inbox.waiter.memberId)})`,
    );
    for (const { nth, place } of rows) {
      const found = moved[nth - 1];
      if (found === undefined) continue;
      const { inbox, moves } = found;
      inbox.seenChangeCount = moves;
      if (inbox.lastCursor === place) continue;
      inbox.lastCursor = place;
      inbox.onChange();
    }
  }

  async function pollNode(nodePool: Pool, orgs: readonly string[]): Promise<void> {
    const rows = await queryOutsideOrg(
      nodePool,
      sql<OrganizationPositions>`select org_id, activity, moves from app.organization_positions(${orgs})`,
    );
    const positionsByOrg = new Map(rows.map((row) => [row.org_id, row]));
    await Promise.all([
      wakeReaders(nodePool, positionsByOrg),
      notifyInboxFollowers(nodePool, positionsByOrg),
    ]);
  }

  return {
    followers: waiting,
    inboxes,
    addFollower: (follower) => {
      const looking = { ...follower, checkedUpTo: follower.position.activityAfter };
      waiting.add(looking);
      return () => {
        waiting.delete(looking);
      };
    },
    followInbox: (waiter, changed) => {
      const inbox: FollowedInbox = { waiter, onChange: changed, seenChangeCount: 0, lastCursor: undefined };
      inboxes.add(inbox);
      return () => {
        inboxes.delete(inbox);
      };
    },
    poll: async () => {
      const orgs = [...new Set([...waiting, ...inboxes].map(({ waiter }) => waiter.orgId))];
      const servers = await groupByNode(pool, orgs, (orgId) => orgId, maxPlacementAgeMillis);
      await awaitAll([...servers].map(([at, those]) => pollNode(at, those)));
    },
  };
}
