import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cloneDatabase, type TestDatabase } from '@muster/testing';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.close());

it('has what is written again and again vacuumed after so many dead rows, however large the table is', async () => {
  const { rows } = await database.owner.query<{ name: string; after: number }>(
    `select c.relname as name, o.option_value::int as after from pg_class c, pg_options_to_table(c.reloptions) o
     where c.relnamespace = 'public'::regnamespace and o.option_name = 'autovacuum_vacuum_max_threshold' order by 1`,
  );
  expect(Object.fromEntries(rows.map(({ name, after }) => [name, after]))).toEqual({
    executions: 50_000,
    leases: 50_000,
    notification_counts: 50_000,
    outbox: 50_000,
    streams: 5_000,
    tokens: 50_000,
  });
});

it('puts the next version of a stream beside the one before, also where many streams fill the table', async () => {
  const streams = 20_000;
  // Statistics of a connection become visible to others with a delay.
  const client = await database.owner.connect();
  await client.query(
    `insert into orgs (id, slug, name) select gen_random_uuid(), 'org-' || n, 'Organization' from generate_series(1, $1) n`,
    [streams],
  );
  await client.query('insert into streams (org_id) select id from orgs on conflict do nothing');
  await client.query('update streams set audit = audit + 1');
  await client.query('select pg_stat_force_next_flush()');
  const { rows } = await client.query<{ share: number }>(
    `select (n_tup_hot_upd::float / n_tup_upd) as share from pg_stat_user_tables where relname = 'streams'`,
  );
  client.release();
  expect(rows[0]?.share).toBeGreaterThan(0.9);
});

describe('the plan of a list that is narrowed by what few rows have', () => {
  const many = 3_000;
  let orgId: string;
  beforeAll(async () => {
    orgId = randomUUID();
    const { owner } = database;
    const fill = (text: string, ...values: unknown[]) => owner.query(text, [orgId, ...values]);
    const projectId = randomUUID();
    const memberId = randomUUID();
    await fill(`insert into orgs (id, slug, name) values ($1, 'narrow', 'Narrow')`);
    await fill(
      `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'WEB', 'Web', 'org', 'hosted')`,
      projectId,
    );
    // Insert the member whose rows are counted and other members, all with one role.
    await fill(
      `insert into members (org_id, id, email, name, handle, role)
       select $1, case n when 1 then $2::uuid else uuidv7() end, n || '@narrow.example', 'Member', 'm' || n, 'member' from generate_series(1, ${many}) n`,
      memberId,
    );
    await fill(
      `insert into epics (org_id, id, project_id, title) select $1, uuidv7(), $2, 'Epic' from generate_series(1, ${many})`,
      projectId,
    );
    await fill(
      `insert into notifications (org_id, id, member_id, kind, title, actor, created_at)
       select $1, uuidv7(), $2, 'assigned', 'Told', '{}', now() from generate_series(1, ${many})`,
      memberId,
    );
    await fill(
      `insert into assignments (org_id, target_type, target_id, project_id, member_id)
       select $1, 'epic', e.id, e.project_id, $2 from epics e where e.org_id = $1`,
      memberId,
    );
    await fill(
      `insert into audit (org_id, seq, id, actor, member_id, operation, outcome, request_id)
       select $1, n, uuidv7(), '{}', $2, 'stories.update', 'allowed', 'request' from generate_series(1, ${many}) n`,
      memberId,
    );
    await owner.query('analyze');
  });

  it.each([
    ['members', 'members_role', `status = 'active' and role = $2 order by name, id`],
    ['epics', 'epics_status', `project_id = $2::uuid and status = $3 order by id`],
    [
      'notifications',
      'notifications_kind',
      'member_id = $2::uuid and in_inbox and kind = $3 order by id desc',
    ],
    ['assignments', 'assignments_member', 'member_id = $2::uuid order by target_type desc, target_id desc'],
    ['audit', '_operation_seq_idx', 'operation = $2 order by seq desc'],
  ])('takes the index of it in %s, where ANALYZE saw one value alone: %s', async (table, index, rest) => {
    const { rows } = await database.owner.query<Record<'QUERY PLAN', string>>(
      `explain (generic_plan) select * from ${table} where org_id = $1 and ${rest} limit 51`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain(index);
    expect(plan).not.toContain('pkey');
  });

  it('is told how many values there are in a month that is made later too', async () => {
    const { owner } = database;
    await owner.query(`select app.make_month('audit', '2031-01-01')`);
    const { rows } = await owner.query<{ attname: string; attoptions: string[] }>(
      `select a.attname, a.attoptions from pg_attribute a
       where a.attrelid = 'months.audit_2031_01'::regclass and a.attoptions is not null order by 1`,
    );
    expect(rows.map(({ attname, attoptions }) => [attname, ...attoptions])).toEqual([
      ['agent_id', 'n_distinct=100'],
      ['member_id', 'n_distinct=100'],
      ['operation', 'n_distinct=100'],
    ]);
  });
});
