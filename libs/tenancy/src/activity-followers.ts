/**
 * Those who wait for events of their organization, and those who follow their own inbox there. One statement looks where
 * all these organizations stand. Only where one went on it is asked which waiting caller may see what is new: a caller is
 * woken by nothing that it may not see, so that no answer tells when something hidden happens.
 */
import { ask, type Pool, sql } from '@muster/driver';
import { everyOne, groupByNode } from '@muster/placement';
import {
  type ActivityPosition,
  type Follower,
  placesAgeMillis,
  type Waiter,
  type Waiting,
} from './waiting.ts';

/** Up to where the activity was looked through for a follower; what lies behind it is asked about once. */
interface Looking extends Follower<ActivityPosition> {
  lookedUpTo: number;
}

/** `place` is undefined until the first look. */
interface Inbox {
  readonly waiter: Waiter;
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
  /** Calls `changed` after the first look and after each that finds another inbox; answers how to leave. */
  readonly followInbox: (waiter: Waiter, changed: () => void) => () => void;
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
