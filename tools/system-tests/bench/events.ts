/** Creates events for readers of an organization's stream: one by one through the API, or as a backlog. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Client } from '@muster/client';
import { type Pool } from '@muster/driver';

export const writes = 300;
/**
 * The random pause between two events in milliseconds, so that they arrive at any time of the polling
 * interval.
 */
const pauseMillis = { least: 20, most: 120 };

/** Creates stories one after the other. Returns by title the time at which each write was answered. */
export async function writeTimes(client: Client): Promise<ReadonlyMap<string, number>> {
  const answered = new Map<string, number>();
  for (let made = 0; made < writes; made += 1) {
    const title = `Story ${made}`;
    await client.stories.create({ projectId: 'WEB', title });
    answered.set(title, performance.now());
    const { least, most } = pauseMillis;
    await pause(least + Math.random() * (most - least));
  }
  return answered;
}

export const backlog = 20_000;

/** Inserts events as transactions would have written them, with the usual data of an event. */
export const writeBacklog = (owner: Pool, orgId: string) =>
  owner.query(
    `with s as (update streams set activity = activity + $2 where org_id = $1 returning activity)
     insert into activity (org_id, seq, id, kind, actor, member_id, subject, data, at)
     select $1, s.activity - $2 + n, gen_random_uuid(), 'story.updated',
       jsonb_build_object('kind', 'member', 'memberId', m.id, 'agentId', null, 'name', m.name), m.id,
       jsonb_build_object('type', 'story', 'id', gen_random_uuid(), 'key', 'WEB-' || n, 'title', 'Story ' || n),
       '{"fields": ["title", "description"]}', now()
     from s, generate_series(1, $2::int) n, (select id, name from members where org_id = $1 limit 1) m`,
    [orgId, backlog],
  );
