/** Tests the cached rights of a token, and that every change which removes a right ends them. */
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId, sql } from '@muster/driver';
import { type People, type Person, useWorld } from '@muster/testing';
import { identifyToken } from './identity.ts';
import { inOrganization } from './organization.ts';
import { TokenRightsCache } from './remembered-rights.ts';

const world = useWorld({});

const hashOf = (person: Person): Buffer => createHash('sha256').update(person.me.token).digest();

/** Simulates a process with cached rights. */
async function rememberer(person: Person) {
  const tokenHash = hashOf(person);
  const identity = await identifyToken(world.database.app, tokenHash);
  const rights = new TokenRightsCache(identity ?? null);
  return (orgRank: number, projectId: string | null = null, rank = 1) =>
    inOrganization(
      world.database.app,
      {
        ...{
          effect: 'read',
          tokenHash,
          cachedRights: rights,
          requiredOrgRank: orgRank,
          orgId: people.orgId,
          claim: null,
        },
        target: projectId === null ? null : { kind: 'project', ref: projectId, rank },
      },
      async (session) => ({
        ...(await session.entry()),
        ...(await session.one(sql<{ members: number }>`select count(*) as members from members`)),
      }),
    );
}

const refusedWith = (sqlState: string) => expect.objectContaining({ name: 'BurstError', sqlState });

let people: People;
/**
 * A project in which Chloé has a direct role, Dan has a role by his team, and the others by their role in the
 * organization.
 */
let projectId: string;
let teamId: string;
beforeEach(async () => {
  people = await world.org();
  [projectId, teamId] = [newId(), newId()];
  const { orgId, chloe, ben } = people;
  const rows: [string, ...unknown[]][] = [
    [
      `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'WEB', 'P', 'private', 'hosted')`,
      orgId,
      projectId,
    ],
    [`insert into teams (org_id, id, name) values ($1, $2, 'T')`, orgId, teamId],
    [
      `insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, 'lead')`,
      orgId,
      projectId,
      chloe.me.memberId,
    ],
    [
      `insert into project_teams (org_id, project_id, team_id, role) values ($1, $2, $3, 'contributor')`,
      orgId,
      projectId,
      teamId,
    ],
    [`update members set role = 'member' where org_id = $1 and id = $2`, orgId, ben.me.memberId],
    [
      `insert into team_members (org_id, team_id, member_id, role) values ($1, $2, $3, 'member')`,
      orgId,
      teamId,
      ben.me.memberId,
    ],
  ];
  for (const [sql, ...parameters] of rows) await world.rows(sql, ...parameters);
});

describe('what is remembered', () => {
  it('is what the door goes by while nothing has changed', async () => {
    const { orgId, chloe } = people;
    const enter = await rememberer(chloe);
    const first = await enter(2, projectId, 3);
    // Bypasses the triggers that begin a new epoch. Only so can the test see that the check does not read the
    // token again.
    await world.rows(`alter table tokens disable trigger user`);
    try {
      await world.rows('update tokens set revoked_at = now() where member_id = $1', chloe.me.memberId);
      expect(await enter(2, projectId, 3)).toEqual({ ...first, at: expect.any(String) });
      expect(await enter(1)).toMatchObject({ targetId: null, projectId: null, members: 4 });
      await world.rows('update rights_epochs set epoch = gen_random_uuid() where org_id = $1', orgId);
      await expect(enter(2, projectId, 3)).rejects.toEqual(refusedWith('MU401'));
    } finally {
      await world.rows(`alter table tokens enable trigger user`);
    }
  });

  it('ends when the token expires, by the clock of the database', async () => {
    const { chloe } = people;
    await world.rows(
      `update tokens set expires_at = now() + interval '1 h' where member_id = $1`,
      chloe.me.memberId,
    );
    const enter = await rememberer(chloe);
    await enter(2);
    // Moves the token's expiry instead of waiting for an hour.
    await world.rows(`alter table tokens disable trigger user`);
    await world.rows(
      `update tokens set expires_at = now() - interval '1 s' where member_id = $1`,
      chloe.me.memberId,
    );
    await world.rows(`alter table tokens enable trigger user`);
    const { rows } = await world.database.owner.query<{ epoch: string }>(
      'select epoch from rights_epochs where org_id = $1',
      [people.orgId],
    );
    const late = world.database.app.query(
      `select * from app.enter($1, 2, null, null, null, null, $2, $3, now() - interval '1 s', null)`,
      [hashOf(chloe), people.orgId, rows[0]?.epoch],
    );
    await expect(late).rejects.toMatchObject({ code: 'MU401' });
  });

  it('never refuses: where it is not enough, the door looks', async () => {
    const { orgId, chloe } = people;
    const enter = await rememberer(chloe);
    await world.rows(`update project_members set role = 'viewer' where member_id = $1`, chloe.me.memberId);
    await enter(2, projectId, 1);
    await expect(enter(2, projectId, 2)).rejects.toEqual(refusedWith('MU403'));
    await world.rows(`update project_members set role = 'lead' where member_id = $1`, chloe.me.memberId);
    expect((await enter(2, projectId, 3)).projectId).toBe(projectId);
    await expect(enter(3)).rejects.toEqual(refusedWith('MU403'));
    await world.rows(
      `update members set role = 'admin' where org_id = $1 and id = $2`,
      orgId,
      chloe.me.memberId,
    );
    expect((await enter(3)).orgRole).toBe('admin');
  });
});

type Change = readonly [
  name: string,
  sql: string,
  who: 'ben' | 'chloe' | 'ana',
  need: readonly [orgRank: number, projectRank: number | null],
  refusal: string,
];
// Changes that remove a right. Each has the parameters $1, the member, $2, the project, and $3, the team or
// their organization.
const changes: readonly Change[] = [
  [
    'a token is revoked',
    'update tokens set revoked_at = now() where member_id = $1',
    'chloe',
    [2, null],
    'MU401',
  ],
  ['a token is removed', 'delete from tokens where member_id = $1', 'chloe', [2, null], 'MU401'],
  [
    'a token expires sooner',
    `update tokens set expires_at = now() - interval '1 s' where member_id = $1`,
    'chloe',
    [2, null],
    'MU401',
  ],
  [
    'a token reaches less',
    `update tokens set scopes = '{read}' where member_id = $1`,
    'chloe',
    [2, null],
    'MU409',
  ],
  [
    'a token is bound',
    'update tokens set project_ids = array[$3::uuid] where member_id = $1',
    'chloe',
    [2, 3],
    'MU409',
  ],
  ['a role sinks', `update members set role = 'viewer' where id = $1`, 'ben', [2, null], 'MU403'],
  ['a member goes', `update members set status = 'removed' where id = $1`, 'ben', [2, null], 'MU401'],
  ['an organization goes', 'update orgs set deleted_at = now() where id = $4', 'ana', [2, null], 'MU401'],
  ['a project goes', 'update projects set deleted_at = now() where id = $2', 'ana', [2, 3], 'MU404'],
  [
    'a role in a project sinks',
    `update project_members set role = 'contributor' where project_id = $2 and member_id = $1`,
    'chloe',
    [2, 3],
    'MU403',
  ],
  [
    'a role in a project goes',
    'delete from project_members where project_id = $2 and member_id = $1',
    'chloe',
    [2, 1],
    'MU404',
  ],
  [
    "a team's role sinks",
    `update project_teams set role = 'viewer' where project_id = $2 and team_id = $3`,
    'ben',
    [2, 2],
    'MU403',
  ],
  [
    "a team's role goes",
    'delete from project_teams where project_id = $2 and team_id = $3',
    'ben',
    [2, 1],
    'MU404',
  ],
  [
    'somebody leaves a team',
    'delete from team_members where team_id = $3 and member_id = $1',
    'ben',
    [2, 1],
    'MU404',
  ],
];

describe('a call that begins when the change is committed', () => {
  it.each(changes)('%s', async (_name, change, who, [orgRank, projectRank], refusal) => {
    const person = people[who];
    const enter = await rememberer(person);
    const call = () => enter(orgRank, projectRank === null ? null : projectId, projectRank ?? 1);
    await call();
    await call();
    const values = [person.me.memberId, projectId, teamId, people.orgId];
    // The values are written into the text, because Postgres cannot infer the type of a parameter that the
    // statement does not use.
    const literal = change.replaceAll(
      /\$(\d)/g,
      (_all, index: string) => `'${values[Number(index) - 1] ?? ''}'`,
    );
    await world.rows(literal);
    await expect(call()).rejects.toEqual(refusedWith(refusal));
  });

  it('a project that all saw becomes private', async () => {
    await world.rows(`update projects set visibility = 'org' where id = $1`, projectId);
    const enter = await rememberer(people.dan);
    await enter(1, projectId, 1);
    await world.rows(`update projects set visibility = 'private' where id = $1`, projectId);
    await expect(enter(1, projectId, 1)).rejects.toEqual(refusedWith('MU404'));
  });
});

describe('an epoch', () => {
  const epoch = async () =>
    (
      await world.rows<{ epoch: string }>('select epoch from rights_epochs where org_id = $1', people.orgId)
    )[0]?.epoch;

  it('stays when a token is made or used, or somebody joins', async () => {
    const before = await epoch();
    await world.token(people.orgId, people.ana.me.memberId);
    await world.rows('update tokens set last_used_at = now() where org_id = $1', people.orgId);
    await world.rows('update members set name = name where org_id = $1', people.orgId);
    expect(await epoch()).toBe(before);
  });

  it('is locked at the very end: who changes a right in a transaction that goes on holds up nobody else', async () => {
    const [one, other] = [await world.database.owner.connect(), await world.database.owner.connect()];
    try {
      for (const [client, person] of [
        [one, people.chloe],
        [other, people.dan],
      ] as const) {
        await client.query('begin');
        await client.query('update tokens set revoked_at = now() where member_id = $1', [person.me.memberId]);
      }
      await other.query('commit');
      await one.query('commit');
    } finally {
      one.release();
      other.release();
    }
  });
});

describe('every table that the door goes by, beyond the target itself,', () => {
  it('begins an epoch when a row of it is changed or removed', async () => {
    const functions = await world.rows<{ name: string; body: string }>(
      `select proname as name, prosrc as body from pg_proc where pronamespace = 'app'::regnamespace`,
    );
    const bodies = new Map(functions.map(({ name, body }) => [name, body.replaceAll(/--.*/g, '')]));
    // Leaves out this function: it only finds the project of a target and runs in every call.
    const seen = new Set(['find_target']);
    const read = new Set<string>();
    const follow = (name: string): void => {
      if (seen.has(name)) return;
      seen.add(name);
      const body = bodies.get(name) ?? '';
      for (const [, table = ''] of body.matchAll(/\b(?:from|join)\s+(?:public\.)?([a-z_]+)/gi))
        read.add(table);
      for (const [, called = ''] of body.matchAll(/\bapp\.([a-z_]+)\s*\(/g)) follow(called);
    };
    follow('enter');
    read.delete('rights_epochs');
    const watched = await world.rows<{ name: string; events: number }>(
      `select c.relname as name, bit_or(t.tgtype) & 24 as events from pg_trigger t join pg_class c on c.oid = t.tgrelid
       where t.tgfoid = 'app.begin_epoch()'::regprocedure and t.tgdeferrable and t.tginitdeferred and t.tgenabled = 'O'
       group by 1 order by 1`,
    );
    expect(read.size).toBe(6);
    // The events are bits of pg_trigger.tgtype: 8 is delete, 16 is update. `members` needs no delete trigger,
    // because removing a member also removes its tokens, which have one.
    expect(watched).toEqual([...read].sort().map((name) => ({ name, events: name === 'members' ? 16 : 24 })));
  });
});
