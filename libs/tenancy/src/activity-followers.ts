/**
 * Notifies callers who wait for events of their organization, and callers who follow their own inbox there.
 * One statement reads the stream positions of all these organizations. Only where a position has advanced
 * does a second statement ask which waiting callers may see the new events. A caller is never woken by an
 * event that it may not see, so no response reveals when something hidden happens.
 */
import { ask, type Pool, sql } from '@muster/driver';
import { everyOne, groupByNode } from '@muster/placement';
import {
  type ActivityPosition,
  type Follower,
  placesAgeMillis,
  type WaitingCaller,
  type Waiting,
} from './waiting.ts';

/**
 * A follower with the activity position up to which its events were already checked. Only events after that
 * position are checked, once each.
 */
interface Looking extends Follower<ActivityPosition> {
  lookedUpTo: number;
}

/**
 * A member's inbox that a caller follows. `place` is the last known cursor; it is undefined until the first
 * poll.
 */
interface Inbox {
  readonly waiter: WaitingCaller;
  readonly changed: () => void;
  moves: number;
  place: string | undefined;
}

interface Standing {
  readonly org_id: string;
  readonly activity: number;
  readonly moves: number;
}

export interface ActivityFollowers extends Waiting<ActivityPosition> {
  readonly inboxes: ReadonlySet<unknown>;
  /**
   * Calls `changed` after the first poll and after each poll that finds a changed inbox. Returns the function
   * that stops following.
   */
  readonly followInbox: (waiter: WaitingCaller, changed: () => void) => () => void;
}

export function createActivityFollowers(pool: Pool): ActivityFollowers {
  const waiting = new Set<Looking>();
  const inboxes = new Set<Inbox>();

  async function wakeReaders(at: Pool, stands: ReadonlyMap<string, Standing>): Promise<void> {
    const behind = [...waiting].flatMap((looking) => {
      const upTo = stands.get(looking.waiter.orgId)?.activity ?? 0;
      return upTo > looking.lookedUpTo ? [{ looking, upTo, after: looking.lookedUpTo }] : [];
    });
    if (behind.length === 0) return;
    const seen = await ask(
      at,
      sql<{ nth: number }>`select nth from app.activity_seen(
        ${behind.map(({ looking }) => looking.waiter.orgId)}, ${behind.map(({ looking }) => looking.waiter.memberId)},
        ${behind.map(({ looking }) => looking.waiter.tokenId)}, ${behind.map(({ after }) => after)},
        ${behind.map(({ upTo }) => upTo)}, ${behind.map(({ looking }) => looking.position.projectId)},
        ${behind.map(({ looking: { position } }) => position.kinds && `{${position.kinds.join(',')}}`)})`,
    );
    for (const { looking, upTo } of behind) looking.lookedUpTo = upTo;
    // guard: who may see it is woken
    for (const { nth } of seen) behind[nth - 1]?.looking.wake();
  }

  async function tellOwners(at: Pool, stands: ReadonlyMap<string, Standing>): Promise<void> {
    const moved = [...inboxes].flatMap((inbox) => {
      const moves = stands.get(inbox.waiter.orgId)?.moves;
      if (moves === undefined) return [];
      return inbox.place === undefined || moves > inbox.moves ? [{ inbox, moves }] : [];
    });
    if (moved.length === 0) return;
    const rows = await ask(
      at,
      sql<{ nth: number; place: string }>`select nth, place from app.inbox_positions(
        ${moved.map(({ inbox }) => inbox.waiter.orgId)}, ${moved.map(({ inbox }) => inbox.waiter.memberId)})`,
    );
    for (const { nth, place } of rows) {
      const found = moved[nth - 1];
      if (found === undefined) continue;
      const { inbox, moves } = found;
      inbox.moves = moves;
      if (inbox.place === place) continue;
      inbox.place = place;
      inbox.changed();
    }
  }

  async function lookAt(at: Pool, orgs: readonly string[]): Promise<void> {
    const rows = await ask(
      at,
      sql<Standing>`select org_id, activity, moves from app.organization_positions(${orgs})`,
    );
    const stands = new Map(rows.map((row) => [row.org_id, row]));
    await Promise.all([wakeReaders(at, stands), tellOwners(at, stands)]);
  }

  return {
    all: waiting,
    inboxes,
    enter: (follower) => {
      const looking = { ...follower, lookedUpTo: follower.position.activityAfter };
      waiting.add(looking);
      return () => {
        waiting.delete(looking);
      };
    },
    followInbox: (waiter, changed) => {
      const inbox: Inbox = { waiter, changed, moves: 0, place: undefined };
      inboxes.add(inbox);
      return () => {
        inboxes.delete(inbox);
      };
    },
    look: async () => {
      const orgs = [...new Set([...waiting, ...inboxes].map(({ waiter }) => waiter.orgId))];
      const servers = await groupByNode(pool, orgs, (orgId) => orgId, placesAgeMillis);
      await everyOne([...servers].map(([at, those]) => lookAt(at, those)));
    },
  };
}
