import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import { BurstError, createPool, newId, CommitOutcomeUnknown, type Query, sql } from '@muster/driver';
import { withTestTimeouts, type People, type Person, useWorld } from '@muster/testing';
import { type AccessCheckInput } from './access-check.ts';
import { inOrganization, type DatabaseSession } from './organization.ts';

const world = useWorld({});

const accessCheckInputOf = (
  person: Person | string,
  visit: Partial<AccessCheckInput> = {},
): AccessCheckInput => ({
  effect: 'read',
  tokenHash: createHash('sha256')
    .update(typeof person === 'string' ? person : person.me.token)
    .digest(),
  // A random organization: no statement of these tests names the organization.
  orgId: newId(),
  cachedRights: null,
  requiredOrgRank: 1,
  target: null,
  claim: null,
  ...visit,
});
const runAccessCheck = (person: Person | string, visit: Partial<AccessCheckInput> = {}) =>
  inOrganization(world.database.app, accessCheckInputOf(person, visit), (session) => session.entry());
const refusedWith = (sqlState: string, facts: { detail?: string } = {}) =>
  expect.objectContaining({ name: 'BurstError', sqlState, ...facts });
const count = (session: DatabaseSession, table: string) =>
  session.one(sql<{ count: number }>`select count(*) from ${sql.word(table)}`);

/** Inserts a project with a record of each kind. */
async function createProject({ orgId }: People, key: string, visibility = 'org') {
  const [projectId, columnId, epicId, storyId, commentId] = [newId(), newId(), newId(), newId(), newId()];
  const actor = { kind: 'system', memberId: null, agentId: null, name: 'spec' };
  await world.rows(
    `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, $3, 'P', $4, 'hosted')`,
    orgId,
    projectId,
    key,
    visibility,
  );
  await world.rows(`insert into project_counters (org_id, project_id) values ($1, $2)`, orgId, projectId);
  await world.rows(
    `insert into board_columns (org_id, id, project_id, name, status, position) values ($1, $2, $3, 'Backlog', 'backlog', 0)`,
    orgId,
    columnId,
    projectId,
  );
  await world.rows(
    `insert into epics (org_id, id, project_id, title) values ($1, $2, $3, 'E')`,
    orgId,
    epicId,
    projectId,
  );
  await world.rows(
    `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
     values ($1, $2, $3, 1, 'S', 'backlog', $4, 'a0', $5)`,
    orgId,
    storyId,
    projectId,
    columnId,
    actor,
  );
  await world.rows(
    `insert into comments (org_id, id, story_id, kind, body, author, author_member_id) values ($1, $2, $3, 'comment', 'x', $4, $5)`,
    orgId,
    commentId,
    storyId,
    actor,
    newId(),
  );
  const accessRequestId = newId();
  await world.rows(
    `insert into access_requests (org_id, id, project_id, member_id, role) select $1, $2, $3, m.id, 'viewer'
     from members m where m.org_id = $1 and m.role = 'viewer'`,
    orgId,
    accessRequestId,
    projectId,
  );
  const targets = [
    ['project', projectId],
    ['projectKey', key.toLowerCase()],
    ['story', storyId],
    ['storyKey', `${key}-1`],
    ['column', columnId],
    ['epic', epicId],
    ['comment', commentId],
    ['accessRequest', accessRequestId],
  ] as const;
  return { projectId, targets };
}

describe('the door', () => {
  it('says who came in, and by what time', async () => {
    const people = await world.org({ policy: { requiredApprovals: 2 } });
    expect(await runAccessCheck(people.ben)).toEqual({
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      orgRole: 'admin',
      targetId: null,
      projectId: null,
    });
  });

  it('lets nobody in by a token that is unknown, revoked, expired, of a removed member or of a deleted organization', async () => {
    await expect(runAccessCheck(randomBytes(32).toString('hex'))).rejects.toEqual(refusedWith('MU401'));
    const closings: [string, (people: People) => unknown[]][] = [
      ['update tokens set revoked_at = now() where member_id = $1', ({ chloe }) => [chloe.me.memberId]],
      [
        `update tokens set expires_at = now() - interval '1 s' where member_id = $1`,
        ({ chloe }) => [chloe.me.memberId],
      ],
      [`update members set status = 'removed' where id = $1`, ({ chloe }) => [chloe.me.memberId]],
      ['update orgs set deleted_at = now() where id = $1', ({ orgId }) => [orgId]],
    ];
    for (const [closing, parameters] of closings) {
      const people = await world.org();
      await runAccessCheck(people.chloe);
      // A revocation takes effect with the next request.
      await world.rows(closing, ...parameters(people));
      await expect(runAccessCheck(people.chloe)).rejects.toEqual(refusedWith('MU401'));
      await expect(runAccessCheck(people.chloe, { effect: 'write' })).rejects.toEqual(refusedWith('MU401'));
    }
  });

  it('lets nobody do what is above their role in the organization', async () => {
    const { ana, ben, chloe, dan, robo } = await world.org();
    for (const [person, rank] of [
      [dan, 1],
      [chloe, 2],
      [robo, 2],
      [ben, 3],
      [ana, 4],
    ] as const) {
      expect((await runAccessCheck(person, { requiredOrgRank: rank })).at).toBeDefined();
      if (rank < 4)
        await expect(runAccessCheck(person, { requiredOrgRank: rank + 1 })).rejects.toEqual(
          refusedWith('MU403'),
        );
    }
  });

  it('finds every kind of record by its id or key, its project, and the role there', async () => {
    const people = await world.org();
    const { projectId, targets } = await createProject(people, 'WEB');
    const idOf = (kind: string) => targets.find(([of]) => of === kind)?.[1];
    for (const [kind, ref] of targets) {
      const targetId = idOf(kind.replace(/Key$/, ''));
      const visit = accessCheckInputOf(people.chloe, { target: { kind, ref, rank: 2 } });
      const said = await inOrganization(world.database.app, visit, async (session) => ({
        ...(await session.entry()),
        ...(await session.one(
          sql<object>`select app.target_id() as "settingTarget", app.project_id() as "settingProject"`,
        )),
      }));
      expect(said).toMatchObject({
        ...{ targetId, projectId },
        ...{ settingTarget: targetId, settingProject: projectId },
      });
      await expect(runAccessCheck(people.dan, { target: { kind, ref, rank: 2 } })).rejects.toEqual(
        refusedWith('MU403', { detail: 'project 2 viewer' }),
      );
    }
  });

  it("answers another organization's record, a private one and one beyond the token's projects as one that is not there", async () => {
    const [people, others] = await Promise.all([world.org(), world.org()]);
    const hidden = [
      ...(await createProject(people, 'HID', 'private')).targets,
      ...(await createProject(others, 'OTH')).targets,
    ];
    const visible = await createProject(people, 'WEB');
    const nothing = visible.targets.map(
      ([kind]) => [kind, kind === 'storyKey' ? 'WEB-9' : kind === 'projectKey' ? 'NONE' : newId()] as const,
    );
    const answers = new Set<string>();
    for (const [kind, ref] of [...hidden, ...nothing]) {
      const refused: unknown = await runAccessCheck(people.chloe, { target: { kind, ref, rank: 1 } }).catch(
        (error: unknown) => error,
      );
      expect(refused).toEqual(refusedWith('MU404'));
      answers.add(String(refused));
    }
    expect(answers.size).toBe(1);

    const bound = await world.token(people.orgId, people.ana.me.memberId, {
      projectIds: [visible.projectId],
    });
    for (const [kind, ref] of visible.targets)
      expect((await runAccessCheck(bound, { target: { kind, ref, rank: 3 } })).projectId).toBe(
        visible.projectId,
      );
    for (const [kind, ref] of hidden) {
      await expect(runAccessCheck(bound, { target: { kind, ref, rank: 1 } })).rejects.toEqual(
        refusedWith('MU404'),
      );
    }
  });

  it('has its no before anything that the work found to say', async () => {
    const { dan } = await world.org();
    for (const effect of ['read', 'write'] as const) {
      const outcome = inOrganization(
        world.database.app,
        accessCheckInputOf(dan, { effect, requiredOrgRank: 3 }),
        async () => {
          throw new Error('the work failed before anything was sent');
        },
      );
      await expect(outcome).rejects.toEqual(refusedWith('MU403'));
    }
  });
});

describe('row security, with no query asking for an organization', () => {
  it('shows no row to a session that entered none', async () => {
    await world.org();
    const { rows: tables } = await world.database.owner.query<{ name: string }>(
      `select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'org_id'`,
    );
    expect(tables.length).toBeGreaterThan(20);
    for (const { name } of [...tables, { name: 'orgs' }]) {
      expect((await world.database.app.query(`select 1 from ${name}`)).rows).toEqual([]);
    }
    await expect(
      world.database.app.query('insert into streams (org_id) values ($1)', [newId()]),
    ).rejects.toMatchObject({ code: '42501' });
  });

  it('shows a session its own organization, takes nothing for another, and forgets it with the transaction', async () => {
    const [people, others] = await Promise.all([world.org(), world.org()]);
    const pool = withTestTimeouts(createPool({ url: world.database.url, role: 'muster_app', max: 1 }));
    const write = (source: Query<unknown>) =>
      inOrganization(pool, accessCheckInputOf(people.ana, { effect: 'write' }), (session) =>
        session.all(source),
      );

    const seen = await write(
      sql`select distinct org_id from members union select id from orgs union select org_id from tokens`,
    );
    expect(seen).toEqual([{ org_id: people.orgId }]);
    expect(
      await write(sql`update members set name = 'X' where org_id = ${others.orgId} returning id`),
    ).toEqual([]);
    expect(await write(sql`delete from members where org_id = ${others.orgId} returning id`)).toEqual([]);
    await expect(
      write(sql`insert into teams (org_id, id, name) values (${others.orgId}, ${newId()}, 'T')`),
    ).rejects.toEqual(refusedWith('42501'));
    await expect(write(sql`update members set org_id = ${others.orgId}`)).rejects.toEqual(
      refusedWith('42501'),
    );
    // Checks that the pool's only connection has left the organization.
    expect((await pool.query('select 1 from members')).rows).toEqual([]);
    await pool.end();
  });

  it("cannot be used to take another organization's row by a foreign key", async () => {
    const [people, others] = await Promise.all([world.org(), world.org()]);
    const theft = inOrganization(
      world.database.app,
      accessCheckInputOf(people.ana, { effect: 'write' }),
      (session) =>
        session.all(
          sql`insert into agents (org_id, id, member_id, name)
          values (${people.orgId}, ${newId()}, ${others.ana.me.memberId}, 'R')`,
        ),
    );
    await expect(theft).rejects.toEqual(refusedWith('23503'));
  });
});

describe('a transaction', () => {
  const insertTeam = (orgId: string, name: string) =>
    sql`insert into teams (org_id, id, name) values (${orgId}, ${newId()}, ${name})`;
  const teams = (orgId: string) =>
    world.rows('select name from teams where org_id = $1 order by name', orgId);

  it('is one round trip for a read and two for a write, whatever they ask at once', async () => {
    const { ana, orgId } = await world.org();
    const pool = withTestTimeouts(createPool({ url: world.database.url, role: 'muster_app', max: 1 }));
    const client = await pool.connect();
    const sent = jest.spyOn(client, 'query');
    client.release();
    await inOrganization(pool, accessCheckInputOf(ana), (session) =>
      Promise.all([
        count(session, 'members'),
        count(session, 'tokens'),
        session.entry(),
        count(session, 'orgs'),
      ]),
    );
    expect(sent).toHaveBeenCalledTimes(1);
    await inOrganization(pool, accessCheckInputOf(ana, { effect: 'write' }), async (session) => {
      await Promise.all([session.entry(), count(session, 'members'), count(session, 'teams')]);
      session.deferToCommit(insertTeam(orgId, 'a'));
      session.deferToCommit(insertTeam(orgId, 'b'));
    });
    expect(sent).toHaveBeenCalledTimes(3);
    // A read of several pipelines runs the authorization check with each, since each is a transaction of its
    // own.
    const later = await inOrganization(pool, accessCheckInputOf(ana), async (session) => {
      await count(session, 'members');
      return count(session, 'members');
    });
    expect(later.count).toBe(4);
    expect(sent).toHaveBeenCalledTimes(5);
    // A write without an initial query is a single pipeline.
    await inOrganization(pool, accessCheckInputOf(ana, { effect: 'write' }), async (session) =>
      session.deferToCommit(insertTeam(orgId, 'c')),
    );
    expect(sent).toHaveBeenCalledTimes(6);
    expect(await teams(orgId)).toEqual([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
    await pool.end();
  });

  it('sends large writes in several bursts, in order, and keeps all of them or none', async () => {
    const { ana, orgId } = await world.org();
    const pool = withTestTimeouts(createPool({ url: world.database.url, role: 'muster_app', max: 1 }));
    const client = await pool.connect();
    const sent = jest.spyOn(client, 'query');
    client.release();
    const insertMany = (last: string) =>
      inOrganization(pool, accessCheckInputOf(ana, { effect: 'write' }), async (session) => {
        for (let n = 100; n < 350; n += 1) session.deferToCommit(insertTeam(orgId, `team ${n}`));
        session.deferToCommit(insertTeam(orgId, last));
      });
    await expect(insertMany('team 100')).rejects.toMatchObject({ constraint: 'teams_name' });
    expect(await teams(orgId)).toEqual([]);
    // The connection has sent three batches of deferred statements, and the rollback.
    expect(sent).toHaveBeenCalledTimes(4);

    await insertMany('last');
    expect(await teams(orgId)).toHaveLength(251);
    expect(sent).toHaveBeenCalledTimes(7);

    await inOrganization(pool, accessCheckInputOf(ana, { effect: 'write' }), async (session) => {
      session.deferToCommit(sql`delete from teams where org_id = ${orgId}`);
      for (const text of ['a', 'b', 'c'])
        session.deferToCommit(sql`select length(${text.repeat(100 * 1024)}::text)`);
      await session.writeNow();
      expect((await count(session, 'teams')).count).toBe(0);
    });
    // The connection has sent seven batches before this transaction, and sends five in it: three portions of the
    // deferred statements, each limited by size, then the query for the row count, and COMMIT.
    expect(sent).toHaveBeenCalledTimes(12);
    await pool.end();
  });

  it('keeps nothing when the work throws, and the connection can be used again', async () => {
    const { ana, orgId } = await world.org();
    const pool = withTestTimeouts(createPool({ url: world.database.url, role: 'muster_app', max: 1 }));
    const failing = inOrganization(pool, accessCheckInputOf(ana, { effect: 'write' }), async (session) => {
      await session.all(insertTeam(orgId, 'a'));
      session.deferToCommit(insertTeam(orgId, 'b'));
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await teams(orgId)).toEqual([]);
    expect(
      (await inOrganization(pool, accessCheckInputOf(ana), (session) => count(session, 'members'))).count,
    ).toBe(4);
    await pool.end();
  });

  it('that was aborted is never acknowledged, though Postgres answers COMMIT without an error', async () => {
    const { ana, orgId } = await world.org();
    const outcome = inOrganization(
      world.database.app,
      accessCheckInputOf(ana, { effect: 'write' }),
      async (session) => {
        await session.all(insertTeam(orgId, 'a'));
        // A handler that swallows an error continues in a failed transaction.
        await session.all(sql`select 1 / 0`).catch(() => undefined);
      },
    );
    await expect(outcome).rejects.toThrow('rolled back');
    expect(await teams(orgId)).toEqual([]);
  });

  it('whose postponed write breaks a constraint says which', async () => {
    const { ana, orgId } = await world.org();
    const outcome = inOrganization(
      world.database.app,
      accessCheckInputOf(ana, { effect: 'write' }),
      async (session) => {
        session.deferToCommit(insertTeam(orgId, 'a'));
        session.deferToCommit(insertTeam(orgId, 'A'));
      },
    );
    await expect(outcome).rejects.toMatchObject({ sqlState: '23505', constraint: 'teams_name' });
    expect(await teams(orgId)).toEqual([]);
  });

  it('that loses its connection before COMMIT did not happen, and at COMMIT may have', async () => {
    const { ana, orgId } = await world.org();
    const before = inOrganization(
      world.database.app,
      accessCheckInputOf(ana, { effect: 'write' }),
      async (session) => {
        await session.all(insertTeam(orgId, 'a'));
        await session.all(sql`select pg_terminate_backend(pg_backend_pid())`);
      },
    );
    await expect(before).rejects.toBeInstanceOf(BurstError);

    // A trigger that runs at COMMIT and then terminates its own session.
    await world.rows(`create function die() returns trigger language plpgsql security definer as
      'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'`);
    await world.rows(`create constraint trigger dies after insert on teams deferrable initially deferred
      for each row when (new.name = 'dies') execute function die()`);
    const at = inOrganization(
      world.database.app,
      accessCheckInputOf(ana, { effect: 'write' }),
      async (session) => session.deferToCommit(insertTeam(orgId, 'dies')),
    );
    await expect(at).rejects.toBeInstanceOf(CommitOutcomeUnknown);
    expect(await teams(orgId)).toEqual([]);
    // The pool does not keep the broken connection of either transaction.
    await expect(runAccessCheck(ana)).resolves.toBeDefined();
  });
});
