/** Events for those that follow an organization: written one by one over the API, or as a backlog. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Client } from '@muster/client';
import { type Pool } from '@muster/driver';

export const writes = 300;
/** Between two of them: they come at any moment of the tick. */
const pauseMillis = { least: 20, most: 120 };

/** Stories, one after the other; answers by title when each write was answered. */
export async function whenWritten(client: Client): Promise<ReadonlyMap<string, number>> {
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

/** As transactions would have written them, with what an event usually carries. */
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
