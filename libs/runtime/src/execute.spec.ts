/** Tests the guarantees of the pipeline with operations made for this purpose. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, newId, sql } from '@muster/driver';
import { operation, org, project, type Scope, type Subject } from '@muster/contract';
import { withTestTimeouts, type People, useWorld } from '@muster/testing';
import { z } from 'zod';
import { ApiError, createAuthenticator, execute, handle, type Handler } from './index.ts';

const world = useWorld({});

beforeAll(async () => {
  await world.rows(`create function lose(code text) returns void language plpgsql as
    $$ begin raise exception 'lost' using errcode = code; end $$`);
  await world.rows('grant execute on function lose to muster_app');
});

const statement = {
  summary: 'Try it',
  description: 'For specs.',
  result: z.object({ name: z.string(), attempt: z.int() }),
} as const;
const teamParams = z.strictObject({ name: z.string().max(50) });
const addTeam = (orgId: string, name: string) =>
  sql`insert into teams (org_id, id, name) values (${orgId}, ${newId()}, ${name})`;

/** Builds a write that inserts a team with the name in its parameters, and then runs `whileRunning`. */
const createTeamHandler = (whileRunning: () => Promise<unknown> = async () => undefined): Handler => {
  let attempt = 0;
  return handle(
    operation({
      ...statement,
      name: 'tries.addTeam',
      effect: 'write',
      access: org('member'),
      params: teamParams,
      example: { name: 'a' },
    }),
    async ({ params, caller, db }) => {
      attempt += 1;
      await db.all(addTeam(caller.orgId, params.name));
      await whileRunning();
      return { name: params.name, attempt };
    },
  );
};
const teams = async (orgId: string) =>
  (await world.rows<{ name: string }>('select name from teams where org_id = $1 order by name', orgId)).map(
    ({ name }) => name,
  );
const listAuditEntries = (orgId: string) =>
  world.rows(
    'select seq, operation, target, outcome, reason, actor, ip, user_agent from audit where org_id = $1 order by seq',
    orgId,
  );

async function createProject({ orgId }: People, archived = false): Promise<string> {
  const id = newId();
  await world.rows(
    `insert into projects (org_id, id, key, name, visibility, origin, archived_at) values ($1, $2, $3, 'P', 'org', 'hosted', $4)`,
    orgId,
    id,
    `P${id.slice(-6).toUpperCase()}`,
    archived ? '2026-01-01' : null,
  );
  return id;
}

describe('who may call', () => {
  const scoped = (access: ReturnType<typeof org>, effect: 'read' | 'write'): Handler =>
    handle(
      operation({
        ...statement,
        name: 'tries.scoped',
        effect,
        access,
        params: z.strictObject({}),
        example: {},
      }),
      async () => ({ name: 'in', attempt: 1 }),
    );
  const needs = {
    read: scoped(org('viewer'), 'read'),
    write: scoped(org('viewer'), 'write'),
    admin: scoped(org('admin'), 'read'),
  };

  it.each<[Scope, (keyof typeof needs)[]]>([
    ['read', ['read']],
    ['write', ['read', 'write']],
    ['admin', ['read', 'write', 'admin']],
    ['platform', []],
  ])('by a token of scope %s: %j', async (scope, allowed) => {
    const people = await world.org();
    const person = await world.token(people.orgId, people.ana.me.memberId, { scopes: [scope] });
    for (const [needed, handler] of Object.entries(needs)) {
      const outcome = world.call(person, handler, {});
      if (allowed.includes(needed as keyof typeof needs))
        await expect(outcome).resolves.toMatchObject({ json: '{"name":"in","attempt":1}' });
      else await expect(outcome).rejects.toMatchObject({ status: 403, details: { reason: 'scope' } });
    }
  });

  it('is never more by a scope than by the role', async () => {
    const { chloe } = await world.org();
    await expect(world.call(chloe, needs.admin, {})).rejects.toMatchObject({
      status: 403,
      details: { reason: 'role' },
    });
  });

  it('by a token that was revoked since it was remembered: nobody, and it is forgotten', async () => {
    const { ana } = await world.org();
    const authenticator = createAuthenticator(world.database.app);
    const read = async () =>
      execute(world.database.app, needs.read, {
        token: await authenticator.authenticate(ana.me.token),
        params: {},
        requestId: 'spec-1',
        idempotencyKey: null,
        ip: null,
        userAgent: null,
      });
    await read();
    await world.rows('update tokens set revoked_at = now() where member_id = $1', ana.me.memberId);
    await expect(authenticator.authenticate(ana.me.token)).resolves.toBeDefined();
    await expect(read()).rejects.toMatchObject({ status: 401 });
    await expect(authenticator.authenticate(ana.me.token)).rejects.toMatchObject({ status: 401 });
    await authenticator.close();
  });

  it('is asked after the parameters were looked at', async () => {
    const { dan } = await world.org();
    await expect(world.call(dan, createTeamHandler(), { name: 5 })).rejects.toMatchObject({
      status: 400,
      details: { issues: [{ path: 'name' }] },
    });
    await expect(world.call(dan, createTeamHandler(), { name: 'a', nmae: 'b' })).rejects.toMatchObject({
      details: { issues: [{ path: 'nmae', message: 'is not a parameter of this operation' }] },
    });
    await expect(world.call(dan, createTeamHandler(), { name: 'a' })).rejects.toMatchObject({ status: 403 });
  });
});

describe('a write', () => {
  it('leaves one audit entry, and nothing when it fails', async () => {
    const { orgId, robo, chloe } = await world.org();
    await world.call(robo, createTeamHandler(), { name: 'a' });
    await expect(
      world.call(
        robo,
        createTeamHandler(async () => Promise.reject(new Error('no'))),
        { name: 'b' },
      ),
    ).rejects.toThrow('no');
    await expect(world.call(robo, createTeamHandler(), { name: 'A' })).rejects.toMatchObject({
      status: 409,
      details: { reason: 'already_exists' },
    });
    expect(await teams(orgId)).toEqual(['a']);
    expect(await listAuditEntries(orgId)).toEqual([
      {
        seq: 1,
        operation: 'tries.addTeam',
        target: null,
        outcome: 'allowed',
        reason: null,
        ip: '127.0.0.1',
        user_agent: 'spec',
        actor: { kind: 'agent', memberId: chloe.me.memberId, agentId: robo.me.agentId, name: 'Robo' },
      },
    ]);
  });

  it('says what happened, in the transaction', async () => {
    const people = await world.org();
    const projectId = await createProject(people);
    const subject: Subject = { type: 'project', id: projectId, key: 'P', title: 'P', projectId };
    const says = (outcome: 'kept' | 'lost'): Handler =>
      handle(
        operation({
          ...statement,
          name: 'tries.say',
          effect: 'write',
          access: org('member'),
          params: z.strictObject({}),
          emits: ['project.updated'],
          example: {},
        }),
        async ({ emit }) => {
          emit('project.updated', subject, { fields: ['name'] });
          if (outcome === 'lost') throw new Error('no');
          return { name: '', attempt: 1 };
        },
      );
    await world.call(people.chloe, says('kept'), {});
    await expect(world.call(people.chloe, says('lost'), {})).rejects.toThrow('no');
    expect(
      await world.rows('select seq, kind, project_id, data from activity where org_id = $1', people.orgId),
    ).toEqual([{ seq: 1, kind: 'project.updated', project_id: projectId, data: { fields: ['name'] } }]);
  });

  it('that can simply run again does: it lost against another one, or its statements are stale', async () => {
    const { orgId, chloe } = await world.org();
    const loses = (times: number, sqlState: string): Handler => {
      let attempt = 0;
      return handle(
        operation({
          ...statement,
          name: 'tries.lose',
          effect: 'write',
          access: org('member'),
          params: teamParams,
          example: { name: 'a' },
        }),
        async ({ params, caller, db }) => {
          attempt += 1;
          await db.all(addTeam(caller.orgId, params.name));
          if (attempt <= times) await db.all(sql`select lose(${sqlState})`);
          return { name: params.name, attempt };
        },
      );
    };
    expect((await world.call(chloe, loses(2, '40001'), { name: 'a' })).json).toBe('{"name":"a","attempt":3}');
    expect((await world.call(chloe, loses(1, '40P01'), { name: 'b' }, { idempotencyKey: 'k' })).json).toBe(
      '{"name":"b","attempt":2}',
    );
    await expect(world.call(chloe, loses(3, '40001'), { name: 'c' })).rejects.toMatchObject({
      status: 503,
      retryAfter: 1,
      details: { reason: 'busy' },
    });
    // A prepared statement may be outdated or unknown on the server after an upgrade. The call is then also
    // repeated, so that an upgrade causes no errors for callers.
    for (const [name, sqlState] of [
      ['d', '0A000'],
      ['e', '26000'],
    ] as const) {
      expect((await world.call(chloe, loses(1, sqlState), { name })).json).toBe(
        `{"name":"${name}","attempt":2}`,
      );
    }
    // Only serialization failures, deadlocks and these two errors of prepared statements are retried. A lock
    // timeout, for example, is not.
    await expect(world.call(chloe, loses(1, '55P03'), { name: 'f' })).rejects.toMatchObject({ status: 503 });
    expect(await teams(orgId)).toEqual(['a', 'b', 'd', 'e']);
    expect(await listAuditEntries(orgId)).toHaveLength(4);
  });

  it('and another that block each other both happen', async () => {
    // Test databases disable deadlock detection; connections opened from here on enable it.
    await world.rows(
      `do $$ begin execute format('alter database %I reset deadlock_timeout', current_database()); end $$`,
    );
    const pool = withTestTimeouts(createPool({ url: world.database.url, role: 'muster_app' }));
    const { orgId, ben, chloe } = await world.org();
    await Promise.all([
      world.call(ben, createTeamHandler(), { name: 'x' }),
      world.call(ben, createTeamHandler(), { name: 'y' }),
    ]);
    const both = Promise.withResolvers<undefined>();
    let holding = 0;
    const crossing = (first: string, second: string): Handler =>
      handle(
        operation({
          ...statement,
          name: 'tries.cross',
          effect: 'write',
          access: org('member'),
          params: z.strictObject({}),
          example: {},
        }),
        async ({ caller, db }) => {
          const lock = (name: string) =>
            db.all(sql`select 1 from teams where org_id = ${caller.orgId} and name = ${name} for update`);
          await lock(first);
          holding += 1;
          if (holding === 2) both.resolve(undefined);
          await both.promise;
          await lock(second);
          return { name: first, attempt: holding };
        },
      );
    const outcomes = await Promise.all([
      world.call(ben, crossing('x', 'y'), {}, { pool }),
      world.call(chloe, crossing('y', 'x'), {}, { pool }),
    ]);
    await pool.end();
    expect(outcomes.map(({ json }) => JSON.parse(json) as unknown)).toMatchObject([
      { name: 'x' },
      { name: 'y' },
    ]);
    // At least one of the two calls lost the deadlock and was repeated.
    expect(holding).toBeGreaterThan(2);
    expect(await listAuditEntries(orgId)).toHaveLength(4);
  });
});

describe('an archived project', () => {
  const renames = (reachesArchived: boolean): Handler =>
    handle(
      operation({
        ...statement,
        name: 'tries.rename',
        effect: 'write',
        access: project('contributor'),
        refusals: ['archived'],
        reachesArchived,
        params: z.strictObject({ projectId: z.string(), name: z.string() }),
        example: { projectId: newId(), name: 'x' },
      }),
      async ({ params, caller, db, access }) => {
        const { targetId } = await access();
        await db.all(
          sql`update projects set name = ${params.name} where org_id = ${caller.orgId} and id = ${targetId}`,
        );
        return { name: params.name, attempt: 1 };
      },
    );
  const nameOf = async (id: string) =>
    (await world.rows<{ name: string }>('select name from projects where id = $1', id))[0]?.name;

  it('takes no write, whatever the handler did whileRunning', async () => {
    const people = await world.org();
    const projectId = await createProject(people, true);
    await expect(world.call(people.ana, renames(false), { projectId, name: 'New' })).rejects.toMatchObject({
      status: 422,
      details: { reason: 'archived' },
    });
    expect(await nameOf(projectId)).toBe('P');
    expect(await listAuditEntries(people.orgId)).toEqual([]);
  });

  it('takes one that says it reaches it, and every other project takes both', async () => {
    const people = await world.org();
    const [archived, active] = [await createProject(people, true), await createProject(people)];
    await world.call(people.ana, renames(true), { projectId: archived, name: 'New' });
    await world.call(people.ana, renames(false), { projectId: active, name: 'New' });
    expect(await nameOf(archived)).toBe('New');
    expect(await nameOf(active)).toBe('New');
    // A handler receives the id even if the call names a key.
    const key = `p${active.slice(-6)}`;
    await world.call(people.ana, renames(false), { projectId: key, name: 'Newer' });
    expect(await nameOf(active)).toBe('Newer');
  });

  it('is told only to those who may write there', async () => {
    const people = await world.org();
    const projectId = await createProject(people, true);
    await expect(world.call(people.dan, renames(false), { projectId, name: 'x' })).rejects.toMatchObject({
      status: 403,
    });
    await expect(
      world.call((await world.org()).ana, renames(false), { projectId, name: 'x' }),
    ).rejects.toMatchObject({ status: 404 });
  });
});

describe('a refusal for lack of rights', () => {
  const guarded = (auditsRefusal: boolean): Handler =>
    handle(
      operation({
        ...statement,
        name: 'tries.guarded',
        effect: 'write',
        access: org('admin'),
        auditsRefusal,
        params: z.strictObject({ thing: z.string() }),
        example: { thing: 'x' },
      }),
      async () => {
        throw new ApiError('forbidden', 'Not this one.', { reason: 'bound_token' });
      },
    );

  it('leaves an audit entry of a sensitive operation, with its reason', async () => {
    const { orgId, ana, chloe } = await world.org();
    const reader = await world.token(orgId, ana.me.memberId, { scopes: ['write'] });
    for (const person of [chloe, reader, ana])
      await expect(world.call(person, guarded(true), { thing: 'it' })).rejects.toMatchObject({ status: 403 });
    expect(await listAuditEntries(orgId)).toMatchObject([
      {
        seq: 1,
        operation: 'tries.guarded',
        target: null,
        outcome: 'denied',
        reason: 'role',
        actor: { name: 'Chloé' },
      },
      { seq: 2, outcome: 'denied', reason: 'scope', actor: { name: 'Ana' } },
      { seq: 3, outcome: 'denied', reason: 'bound_token', actor: { name: 'Ana' } },
    ]);
  });

  it('leaves none of any other, nor one of a call that made no sense', async () => {
    const { orgId, chloe } = await world.org();
    await expect(world.call(chloe, guarded(false), { thing: 'it' })).rejects.toMatchObject({ status: 403 });
    await expect(world.call(chloe, guarded(true), {})).rejects.toMatchObject({ status: 400 });
    expect(await listAuditEntries(orgId)).toEqual([]);
  });
});
