/** What is past its day goes, in batches short enough that nobody waits for them. */
import { acrossOrganizations, type Db, inOrganizationAsSystem, type Pool, sqlQuery } from '@muster/database';
import { Policy } from '@muster/registry';

const batchSize = 2_000;

type Door = <Result>(work: (db: Db) => Promise<Result>) => Promise<Result>;

/** Runs a statement that removes at most so many rows, and answers them, until none is left. */
async function untilNone(
  door: Door,
  signal: AbortSignal,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<number> {
  let removed = 0;
  for (;;) {
    signal.throwIfAborted();
    const rows = await door((db) => db.all(sqlQuery(sql, [batchSize, ...parameters])));
    removed += rows.length;
    if (rows.length < batchSize) return removed;
  }
}

const ofAll =
  (pool: Pool): Door =>
  (work) =>
    acrossOrganizations(pool, work);

export const purgeOutbox = (pool: Pool, signal: AbortSignal): Promise<number> =>
  untilNone(
    ofAll(pool),
    signal,
    `delete from outbox where (org_id, id) in (
       select org_id, id from outbox where done_at < now() - interval '1 day' order by done_at limit $1) returning 1`,
  );

export const purgeIdempotencyKeys = (pool: Pool, signal: AbortSignal): Promise<number> =>
  untilNone(
    ofAll(pool),
    signal,
    `delete from idempotency_keys where (org_id, token_id, operation, key) in (
       select org_id, token_id, operation, key from idempotency_keys
       where created_at < now() - interval '24 hours' order by created_at limit $1) returning 1`,
  );

/** Entries older than their organization's policy keeps. */
export const purgeAudit = (pool: Pool, signal: AbortSignal): Promise<number> =>
  untilNone(
    ofAll(pool),
    signal,
    `delete from audit where (org_id, seq) in (
       select a.org_id, a.seq from orgs o
       cross join lateral (
         select e.org_id, e.seq from audit e
         where e.org_id = o.id
           and e.at < now() - make_interval(days => coalesce((o.policy->>'auditRetentionDays')::int, $2))
         order by e.at limit $1) a
       limit $1) returning 1`,
    [Policy.parse({}).auditRetentionDays],
  );

/** Past its time a lock is none for anybody. Asked twice: its holder may extend it in between. */
export const purgeLocks = (pool: Pool, signal: AbortSignal): Promise<number> =>
  untilNone(
    ofAll(pool),
    signal,
    `delete from locks where (org_id, id) in (
       select org_id, id from locks where expires_at < now() - interval '1 hour' order by expires_at limit $1)
       and expires_at < now() - interval '1 hour' returning 1`,
  );

/** Notifications that were read so many days ago; unread ones stay, for they are counted. */
export const purgeNotifications = (pool: Pool, signal: AbortSignal, days: number): Promise<number> =>
  untilNone(
    ofAll(pool),
    signal,
    `delete from notifications where (org_id, id) in (
       select org_id, id from notifications
       where (read_at is not null or not in_inbox)
         and coalesce(read_at, created_at) < now() - make_interval(days => $2)
       order by coalesce(read_at, created_at) limit $1) returning 1`,
    [days],
  );

export const purgeAgentRuns = (pool: Pool, signal: AbortSignal, days: number): Promise<number> =>
  untilNone(
    ofAll(pool),
    signal,
    `delete from agent_runs where (org_id, id) in (
       select org_id, id from agent_runs where ended_at < now() - make_interval(days => $2) order by ended_at limit $1)
       returning 1`,
    [days],
  );

/** Removes some rows of a table; the tables that grow without end go this way, before what is left goes at once. */
const someOf = (table: string, key: string): string =>
  `delete from ${table} where org_id = $2 and ${key} in (select ${key} from ${table} where org_id = $2 limit $1) returning 1`;

/** Organizations whose owner deleted them more than 30 days ago. */
export async function purgeOrganizations(pool: Pool, signal: AbortSignal): Promise<number> {
  const past = await acrossOrganizations(pool, (db) =>
    db.all(
      sqlQuery<{ id: string }>(
        `select id from orgs where deleted_at < now() - interval '30 days' order by deleted_at`,
        [],
      ),
    ),
  );
  for (const { id } of past) {
    const inside: Door = (work) => inOrganizationAsSystem(pool, id, work);
    // With all that hangs on them. Triggers keep counts of them, so they go as they would by an operation.
    await untilNone(inside, signal, someOf('stories', 'id'), [id]);
    await untilNone(ofAll(pool), signal, someOf('activity', 'seq'), [id]);
    await untilNone(ofAll(pool), signal, someOf('audit', 'seq'), [id]);
    await untilNone(ofAll(pool), signal, someOf('outbox', 'id'), [id]);
    await acrossOrganizations(pool, (db) => db.all(sqlQuery('delete from orgs where id = $1', [id])));
  }
  return past.length;
}
