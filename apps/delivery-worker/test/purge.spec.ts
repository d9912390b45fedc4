/** What is past its day goes, and nothing else. */
import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/database';
import { useWorld } from '@muster/testing';
import {
  purgeAgentRuns,
  purgeAudit,
  purgeIdempotencyKeys,
  purgeLocks,
  purgeNotifications,
  purgeOrganizations,
  purgeOutbox,
} from '../src/purge.ts';
import { findOverdrawn } from '../src/seats.ts';

const world = useWorld({});
const { signal } = new AbortController();

describe('the outbox', () => {
  it('loses what was done more than a day ago, and neither what is undone nor what is dead', async () => {
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
    await write('40 days', false, true);
    await world.rows(
      `insert into outbox (org_id, id, topic, payload, done_at)
       select $1, gen_random_uuid(), 'many', '{}', now() - interval '2 days' from generate_series(1, 4100)`,
      orgId,
    );
    expect(await purgeOutbox(world.database.app, signal)).toBe(4_101);
    const left = await world.rows<{ topic: string }>(
      'select topic from outbox where org_id = $1 order by topic',
      orgId,
    );
    expect(left.map(({ topic }) => topic)).toEqual(['23 hours done', '40 days', '40 days dead']);
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
    expect(await purgeIdempotencyKeys(world.database.app, signal)).toBe(1);
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
    expect(await purgeAudit(world.database.app, signal)).toBe(4);
    const left = (orgId: string) =>
      world.rows<{ seq: number }>('select seq from audit where org_id = $1 order by seq', orgId);
    expect((await left(usual.orgId)).map(({ seq }) => seq)).toEqual([1, 6, 8, 364]);
    expect((await left(brief.orgId)).map(({ seq }) => seq)).toEqual([1, 6]);
  });
});

describe('locks', () => {
  it('go an hour after their time', async () => {
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
    expect(await purgeLocks(world.database.app, signal)).toBe(1);
    const left = await world.rows<{ reason: string }>(
      'select reason from locks where org_id = $1 order by fencing_token',
      orgId,
    );
    expect(left.map(({ reason }) => reason)).toEqual(['59 minutes', '1 second', '-1 minute']);
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
    expect(await purgeNotifications(world.database.app, signal, 90)).toBe(2);
    const left = await world.rows<{ title: string }>('select title from notifications order by title');
    expect(left.map(({ title }) => title)).toEqual([
      'never for the inbox, and young',
      'read lately',
      'unread',
    ]);
    expect(await world.rows('select unread from notification_counts')).toEqual([{ unread: 1 }]);
  });
});

describe('runs of agents', () => {
  it('go when they ended long ago; those that go on stay', async () => {
    const { orgId, ana } = await world.org();
    const projectId = newId();
    await world.rows(
      `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'WEB', 'Web', 'org', 'hosted')`,
      orgId,
      projectId,
    );
    await world.rows(
      `insert into agent_runs (org_id, id, project_id, run_id, member_id, state, last_event, started_at, ended_at)
       select $1, gen_random_uuid(), $2, name, $3, state, '{}', now() - interval '200 days', now() - age::interval
       from (values ('old', 'completed', '91 days'), ('young', 'failed', '89 days'), ('at it', 'running', null)) r (name, state, age)`,
      orgId,
      projectId,
      ana.me.memberId,
    );
    expect(await purgeAgentRuns(world.database.app, signal, 90)).toBe(1);
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
    expect(await purgeOrganizations(world.database.app, signal)).toBe(1);

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

describe('seats', () => {
  it('are reported where more are held than were bought', async () => {
    const [{ orgId }] = [await world.org(), await world.org()];
    expect(await findOverdrawn(world.database.app, signal)).toEqual([]);
    await world.rows('update subscriptions set seats = 2 where org_id = $1', orgId);
    expect(await findOverdrawn(world.database.app, signal)).toEqual([
      { orgId, purchased: 2, used: 3, pending: 0 },
    ]);
  });
});
