/** Only rows past their retention are deleted. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { homeNodeName } from '@muster/placement';
import { useWorld } from '@muster/testing';
import { removeOrganizations, removeProjects } from '../src/remove.ts';
import { maintainMonthlyPartitions } from '../src/months.ts';
import { purge, purgedTables, markOldNotificationsRead } from '../src/purge.ts';
import { retention, retentionTable } from '../src/retention.ts';

const world = useWorld({});
const { signal } = new AbortController();
const silentProgress = { onRowsRemoved: () => undefined, log: () => undefined };

describe('the retention', () => {
  it('says of each table what becomes of its rows, and of no other', async () => {
    const tables = await world.rows<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       order by relname`,
    );
    expect(Object.keys(retention)).toEqual(tables.map(({ name }) => name));
  });

  it('stands in the docs as it is', async () => {
    const page = await readFile(new URL('../../../docs/decisions/retention.md', import.meta.url), 'utf8');
    const asWritten = (table: string): string[] =>
      table.split('\n').map((line) => line.replaceAll(/\s*\|\s*/g, '|').replaceAll(/-+/g, '-'));
    expect(asWritten(page)).toEqual(expect.arrayContaining(asWritten(retentionTable())));
  });

  it('is a query that the worker may make, of each table that is purged', async () => {
    for (const table of purgedTables)
      expect({ table, rows: await purge(world.database.app, signal, table, 90) }).toEqual({ table, rows: 0 });
  });
});

describe('what is over', () => {
  it('goes: requests that were decided, invitations, tokens, broadcasts; what is not over stays', async () => {
    const { orgId, ana } = await world.org();
    const projectId = newId();
    const old = `now() - interval '91 days'`;
    const young = `now() - interval '89 days'`;
    const owner = world.database.owner;
    await owner.query(`
      insert into projects (org_id, id, key, name, visibility, origin) values ('${orgId}', '${projectId}', 'WEB', 'Web', 'org', 'hosted');
      insert into access_requests (org_id, id, project_id, member_id, role, message, state, resolved_at, resolved_by)
        values ('${orgId}', gen_random_uuid(), '${projectId}', '${ana.me.memberId}', 'viewer', 'old', 'denied', ${old}, '{}'),
          ('${orgId}', gen_random_uuid(), '${projectId}', '${ana.me.memberId}', 'viewer', 'young', 'denied', ${young}, '{}'),
          ('${orgId}', gen_random_uuid(), '${projectId}', '${ana.me.memberId}', 'viewer', 'pending', 'pending', null, null);
      insert into invitations (org_id, id, email, role, state, invited_by, expires_at, updated_at)
        values ('${orgId}', gen_random_uuid(), 'old-revoked', 'viewer', 'revoked', '{}', ${young}, ${old}),
          ('${orgId}', gen_random_uuid(), 'old-expired', 'viewer', 'pending', '{}', ${old}, ${old}),
          ('${orgId}', gen_random_uuid(), 'young', 'viewer', 'pending', '{}', ${young}, ${old});
      insert into tokens (org_id, id, member_id, name, hash, last_four, scopes, expires_at, revoked_at)
        select '${orgId}', gen_random_uuid(), '${ana.me.memberId}', name, sha256(name::bytea), 'last', '{read}', expires, revoked
        from (values ('old-revoked', null, ${old}), ('old-expired', ${old}, null), ('young', ${young}, null), ('good', null, null))
          t (name, expires, revoked);
      insert into broadcasts (org_id, id, message, level, sender, sender_member_id, expires_at)
        select '${orgId}', gen_random_uuid(), m, 'info', '{}', '${ana.me.memberId}', at
        from (values ('old', ${old}), ('young', ${young})) b (m, at)`);
    const left: Record<string, unknown> = {};
    for (const [table, column, gone] of [
      ['access_requests', 'message', 1],
      ['invitations', 'email', 2],
      ['tokens', 'name', 2],
      ['broadcasts', 'message', 1],
    ] as const) {
      expect({ table, gone: await purge(world.database.app, signal, table, 90) }).toEqual({ table, gone });
      const rows = await world.rows<{ text: string }>(
        `select ${column} as text from ${table} where org_id = $1 order by 1`,
        orgId,
      );
      left[table] = rows.map(({ text }) => text);
    }
    expect(left).toMatchObject({
      access_requests: ['pending', 'young'],
      invitations: ['young'],
      tokens: expect.arrayContaining(['good', 'young']),
      broadcasts: ['young'],
    });
    expect(left['tokens']).not.toContain('old-revoked');
  });
});

describe('the outbox', () => {
  it('loses what was done a day ago or given up 30 days ago, and nothing that is undone', async () => {
    const { orgId } = await world.org();
    const write = (age: string, done: boolean, dead: boolean): Promise<unknown> =>
      world.rows(
        `insert into outbox (org_id, id, topic, payload, created_at, done_at, dead_at)
         values ($1, $2, $3, '{}', now() - $4::interval, case when $5 then now() - $4::interval end, case when $6 then now() - $4::interval end)`,
        orgId,
        newId(),
        `${age}${done ? ' done' : ''}${dead ? ' dead' : ''}`,
        age,
        done,
        dead,
      );
    await write('25 hours', true, false);
    await write('23 hours', true, false);
    await write('40 days', false, false);
    await write('31 days', false, true);
    await write('29 days', false, true);
    await world.rows(
      `insert into outbox (org_id, id, topic, payload, done_at)
       select $1, gen_random_uuid(), 'many', '{}', now() - interval '2 days' from generate_series(1, 4100)`,
      orgId,
    );
    expect(await purge(world.database.app, signal, 'outbox', 90)).toBe(4_102);
    const left = await world.rows<{ topic: string }>(
      'select topic from outbox where org_id = $1 order by topic',
      orgId,
    );
    expect(left.map(({ topic }) => topic)).toEqual(['23 hours done', '29 days dead', '40 days']);
  });
});

describe('answers to Idempotency-Keys', () => {
  it('go after their day', async () => {
    const { orgId, ana } = await world.org();
    const [token] = await world.rows<{ id: string }>(
      'select id from tokens where org_id = $1 and member_id = $2',
      orgId,
      ana.me.memberId,
    );
    await world.rows(
      `insert into idempotency_keys (org_id, token_id, operation, key, fingerprint, created_at)
       values ($1, $2, 'x', 'old', 'f', now() - interval '25 hours'), ($1, $2, 'x', 'young', 'f', now() - interval '23 hours')`,
      orgId,
      token?.id,
    );
    expect(await purge(world.database.app, signal, 'idempotency_keys', 90)).toBe(1);
    expect(await world.rows('select key from idempotency_keys')).toEqual([{ key: 'young' }]);
  });
});

describe('audit entries', () => {
  it('go after as many days as their organization keeps them', async () => {
    const [usual, brief] = [await world.org(), await world.org({ policy: { auditRetentionDays: 7 } })];
    for (const { orgId } of [usual, brief]) {
      await world.rows(
        `insert into audit (org_id, seq, id, at, actor, operation, outcome, request_id)
         select $1, day, gen_random_uuid(), now() - make_interval(days => day), '{}', 'x', 'allowed', 'r'
         from unnest(array[1, 6, 8, 364, 366]) day`,
        orgId,
      );
    }
    expect(await purge(world.database.app, signal, 'audit', 90)).toBe(4);
    const left = (orgId: string) =>
      world.rows<{ seq: number }>('select seq from audit where org_id = $1 order by seq', orgId);
    expect((await left(usual.orgId)).map(({ seq }) => seq)).toEqual([1, 6, 8, 364]);
    expect((await left(brief.orgId)).map(({ seq }) => seq)).toEqual([1, 6]);
  });

  it('are kept no longer than the plan of now lets, whatever the policy says from before', async () => {
    const { orgId } = await world.org({ policy: { auditRetentionDays: 365 } });
    await world.rows(
      `insert into audit (org_id, seq, id, at, actor, operation, outcome, request_id)
       select $1, day, gen_random_uuid(), now() - make_interval(days => day), '{}', 'x', 'allowed', 'r'
       from unnest(array[89, 100]) day`,
      orgId,
    );
    expect(await purge(world.database.app, signal, 'audit', 90)).toBe(0);
    await world.rows(`update subscriptions set plan = 'free' where org_id = $1`, orgId);
    expect(await purge(world.database.app, signal, 'audit', 90)).toBe(1);
    expect(await world.rows('select seq from audit where org_id = $1', orgId)).toEqual([{ seq: 89 }]);
  });
});

describe('a month of the audit', () => {
  it('is dropped when nobody keeps its entries any more, and not while one organization does', async () => {
    const { orgId } = await world.org({ policy: { auditRetentionDays: 400 } });
    const longest = (days: number): Promise<unknown> =>
      world.rows(`update orgs set policy = jsonb_build_object('auditRetentionDays', $1::int)`, days);
    await world.rows(`update subscriptions set plan = 'enterprise'`);
    await world.rows(`
      do $$ declare m timestamptz := date_trunc('month', now() - interval '14 months', 'UTC'); begin
        execute format('create table months.audit_old partition of audit for values from (%L) to (%L)', m, m + interval '1 month');
      end $$`);
    await world.rows(
      `insert into audit (org_id, seq, id, at, actor, operation, outcome, request_id)
       select $1, 1, gen_random_uuid(), now() - interval '14 months', '{}', 'x', 'allowed', 'r'`,
      orgId,
    );
    await longest(365);
    await world.rows(`update orgs set policy = '{"auditRetentionDays": 500}' where id = $1`, orgId);
    expect(await maintainMonthlyPartitions(world.database.app)).toEqual([]);
    await longest(365);
    expect(await maintainMonthlyPartitions(world.database.app)).toEqual([
      { month: 'audit_old', done: 'dropped' },
    ]);
    expect(await world.rows('select from audit where org_id = $1', orgId)).toEqual([]);
  });
});

describe('locks', () => {
  it('go when their time has passed', async () => {
    const { orgId, ana } = await world.org();
    const projectId = newId();
    await world.rows(
      `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'WEB', 'Web', 'org', 'hosted')`,
      orgId,
      projectId,
    );
    await world.rows(
      `insert into locks (org_id, id, project_id, resources, mode, holder, member_id, reason, fencing_token, expires_at)
       select $1, gen_random_uuid(), $2, array['src/**'], 'exclusive', '{}', $3, age, row_number() over (), now() - age::interval
       from unnest(array['61 minutes', '59 minutes', '1 second', '-1 minute']) age`,
      orgId,
      projectId,
      ana.me.memberId,
    );
    expect(await purge(world.database.app, signal, 'locks', 90)).toBe(3);
    const left = await world.rows<{ reason: string }>(
      'select reason from locks where org_id = $1 order by fencing_token',
      orgId,
    );
    expect(left.map(({ reason }) => reason)).toEqual(['-1 minute']);
  });

  it('stay with the work that they go with, which may go on late', async () => {
    const { orgId, ana } = await world.org();
    const [projectId, executionId] = [newId(), newId()];
    await world.rows(
      `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'WEB', 'Web', 'org', 'hosted')`,
      orgId,
      projectId,
    );
    await world.rows(
      `insert into executions (org_id, id, project_id, target_type, target_id, state, epoch) values ($1, $2, $3, 'story', $2, 'leased', 1)`,
      orgId,
      executionId,
      projectId,
    );
    await world.rows(
      `insert into locks (org_id, id, project_id, resources, mode, holder, member_id, execution_id, fencing_token, expires_at)
       values ($1, $2, $3, array['src/**'], 'exclusive', '{}', $4, $5, 1, now() - interval '2 days')`,
      orgId,
      newId(),
      projectId,
      ana.me.memberId,
      executionId,
    );
    expect(await purge(world.database.app, signal, 'locks', 90)).toBe(0);
  });
});

describe('notifications', () => {
  it('go when they were read long ago; unread ones stay, and so does their count', async () => {
    const { orgId, ana } = await world.org();
    const write = (title: string, inInbox: boolean, made: string, read: string | null): Promise<unknown> =>
      world.rows(
        `insert into notifications (org_id, id, member_id, kind, title, actor, in_inbox, created_at, read_at)
         values ($1, $2, $3, 'mention', $4, '{}', $5, now() - $6::interval, now() - $7::interval)`,
        ...[orgId, newId(), ana.me.memberId, title, inInbox, made, read],
      );
    await write('read long ago', true, '200 days', '91 days');
    await write('read lately', true, '200 days', '89 days');
    await write('unread', true, '200 days', null);
    await write('never for the inbox', false, '91 days', null);
    await write('never for the inbox, and young', false, '89 days', null);
    expect(await purge(world.database.app, signal, 'notifications', 90)).toBe(2);
    const left = await world.rows<{ title: string }>('select title from notifications order by title');
    expect(left.map(({ title }) => title)).toEqual([
      'never for the inbox, and young',
      'read lately',
      'unread',
    ]);
    expect(await world.rows('select unread from notification_counts')).toEqual([{ unread: 1 }]);
  });

  it('count as read when nobody read them for a year', async () => {
    const { orgId, ana } = await world.org();
    for (const age of ['366 days', '364 days'])
      await world.rows(
        `insert into notifications (org_id, id, member_id, kind, title, actor, in_inbox, created_at)
         values ($1, $2, $3, 'mention', $4::text, '{}', true, now() - ($4::text)::interval)`,
        ...[orgId, newId(), ana.me.memberId, age],
      );
    expect(await markOldNotificationsRead(world.database.app, signal)).toBe(1);
    const unread = await world.rows<{ title: string }>(
      'select title from notifications where org_id = $1 and read_at is null',
      orgId,
    );
    expect(unread).toEqual([{ title: '364 days' }]);
    expect(await world.rows('select unread from notification_counts where org_id = $1', orgId)).toEqual([
      { unread: 1 },
    ]);
  });
});

describe('runs of agents', () => {
  it('go when they ended, or were last heard of, long ago; those that go on stay', async () => {
    const { orgId, ana } = await world.org();
    const projectId = newId();
    await world.rows(
      `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'WEB', 'Web', 'org', 'hosted')`,
      orgId,
      projectId,
    );
    await world.rows(
      `insert into agent_runs (org_id, id, project_id, run_id, member_id, state, last_event, started_at, last_seen_at, ended_at)
       select $1, gen_random_uuid(), $2, name, $3, state, '{}', now() - interval '200 days', now() - seen::interval, now() - age::interval
       from (values ('old', 'completed', '91 days', '91 days'), ('young', 'failed', '89 days', '89 days'),
         ('silent', 'running', '91 days', null), ('at it', 'running', '1 day', null)) r (name, state, seen, age)`,
      orgId,
      projectId,
      ana.me.memberId,
    );
    expect(await purge(world.database.app, signal, 'agent_runs', 90)).toBe(2);
    const left = await world.rows<{ name: string }>('select run_id as name from agent_runs order by run_id');
    expect(left.map(({ name }) => name)).toEqual(['at it', 'young']);
  });
});

describe('an organization', () => {
  it('goes with all that is in it, 30 days after its owner deleted it', async () => {
    const [gone, fresh, alive] = [await world.org(), await world.org(), await world.org()];
    for (const { orgId, ana } of [gone, fresh, alive]) {
      const [project, column, story] = [newId(), newId(), newId()];
      await world.rows(
        `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'WEB', 'Web', 'org', 'hosted')`,
        orgId,
        project,
      );
      await world.rows(
        `insert into board_columns (org_id, id, project_id, name, status, position) values ($1, $2, $3, 'Backlog', 'backlog', 0)`,
        orgId,
        column,
        project,
      );
      await world.rows(
        `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
         values ($1, $2, $3, 1, 'A story', 'backlog', $4, 'a0', '{}')`,
        orgId,
        story,
        project,
        column,
      );
      await world.rows(
        `insert into activity (org_id, seq, id, kind, actor, member_id, subject, data)
         values ($1, 1, gen_random_uuid(), 'story.created', '{}', $2, '{}', '{}')`,
        orgId,
        ana.me.memberId,
      );
    }
    await world.rows(`update orgs set deleted_at = now() - interval '31 days' where id = $1`, gone.orgId);
    await world.rows(`update orgs set deleted_at = now() - interval '29 days' where id = $1`, fresh.orgId);
    expect(
      await removeOrganizations({ name: homeNodeName, pool: world.database.app }, signal, silentProgress),
    ).toBe(1);

    const tables = await world.rows<{ name: string }>(
      `select table_name as name from information_schema.columns where column_name = 'org_id' and table_schema = 'public'`,
    );
    for (const { name } of tables) {
      const [count] = await world.rows<{ n: number }>(
        `select count(*)::int as n from ${name} where org_id = $1`,
        gone.orgId,
      );
      expect({ name, n: count?.n }).toEqual({ name, n: 0 });
    }
    const stories = await world.rows<{ org: string }>('select org_id as org from stories');
    expect(stories.map(({ org }) => org).sort()).toEqual([fresh.orgId, alive.orgId].sort());
  });
});

describe('a project that somebody deleted', () => {
  it('is removed, and said to be', async () => {
    const { orgId } = await world.org();
    const [deleted, other] = [newId(), newId()];
    await world.rows(
      `insert into projects (org_id, id, key, name, visibility, origin, deleted_at)
       values ($1, $2, 'WEB', 'Web', 'org', 'hosted', now()), ($1, $3, 'APP', 'App', 'org', 'hosted', null)`,
      ...[orgId, deleted, other],
    );
    const said: string[] = [];
    let rows = 0;
    const progress = {
      onRowsRemoved: (count: number) => {
        rows += count;
      },
      log: (_about: object, message: string) => said.push(message),
    };
    expect(await removeProjects(world.database.app, signal, progress)).toBe(1);
    expect(rows).toBe(1);
    expect(said).toEqual(['removed deleted records']);
    expect(await world.rows('select id from projects where org_id = $1', orgId)).toEqual([{ id: other }]);
  });
});
