/**
 * Those who wait for events of their organization. Only where an activity went on it is asked which of them may see what
 * is new: a caller is woken by nothing that it may not see, so that no answer tells when something hidden happens.
 */
import { ask } from './ask.ts';
import { type ActivityPosition, type Follower, type Waiting } from './followers.ts';
import { type Pool } from './pool.ts';
import { sql } from './sql.ts';

/** Up to where the activity was looked through for a follower; what lies behind it is asked about once. */
interface Looking extends Follower<ActivityPosition> {
  lookedUpTo: number;
}

export function createActivityFollowers(pool: Pool): Waiting<ActivityPosition> {
  const waiting = new Set<Looking>();
  return {
    all: waiting,
    enter: (follower) => {
      const looking = { ...follower, lookedUpTo: follower.position.activityAfter };
      waiting.add(looking);
      return () => {
        waiting.delete(looking);
      };
    },
    look: async () => {
      const asked = [...waiting];
      const orgs = [...new Set(asked.map(({ waiter }) => waiter.orgId))];
      const rows = await ask(
        pool,
        sql<{ org_id: string; seq: number }>`select org_id, seq from app.activity_positions(${orgs})`,
      );
      const stands = new Map(rows.map(({ org_id, seq }) => [org_id, seq]));
      const behind = asked.flatMap((looking) => {
        const upTo = stands.get(looking.waiter.orgId) ?? 0;
        return upTo > looking.lookedUpTo ? [{ looking, upTo, after: looking.lookedUpTo }] : [];
      });
      if (behind.length === 0) return;
      const seen = await ask(
        pool,
        sql<{ nth: number }>`select nth from app.activity_seen(
          ${behind.map(({ looking }) => looking.waiter.orgId)}, ${behind.map(({ looking }) => looking.waiter.memberId)},
          ${behind.map(({ looking }) => looking.waiter.tokenId)}, ${behind.map(({ after }) => after)},
          ${behind.map(({ upTo }) => upTo)}, ${behind.map(({ looking }) => looking.position.projectId)},
          ${behind.map(({ looking: { position } }) => position.kinds && `{${position.kinds.join(',')}}`)})`,
      );
      for (const { looking, upTo } of behind) looking.lookedUpTo = upTo;
      for (const { nth } of seen) behind[nth - 1]?.looking.wake();
    },
  };
}
