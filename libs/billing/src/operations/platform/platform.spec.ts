import { describe, expect, it } from '@jest/globals';
import { maxSearchedRows, newId } from '@muster/driver';
import { isOutboxJob, jobNames } from '@muster/jobs';
import { type Scope } from '@muster/contract';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { platform } from './handlers.ts';

const world = useWorld({ admin: { platform } });

const createTokenWithScopes = (
  { orgId, ana }: PeopleOf<typeof world>,
  scopes: readonly Scope[],
): Promise<PersonOf<typeof world>> => world.token(orgId, ana.me.memberId, { scopes });
const createPlatformOperator = (people: PeopleOf<typeof world>): Promise<PersonOf<typeof world>> =>
  createTokenWithScopes(people, ['platform']);

/** Creates an organization with a slug that is not part of the slug of any other organization. */
async function arrangeOrgWithSlug(slug: string): Promise<PeopleOf<typeof world>> {
  const people = await world.org();
  await world.rows('update orgs set slug = $2, name = $3 where id = $1', people.orgId, slug, `The ${slug}`);
  return { ...people, slug };
}

interface Page {
  readonly items: unknown[];
  readonly nextCursor: string | null;
}

/** Reads all pages of a list, and counts the items of each. */
async function readAllPages(
  ask: (cursor: { cursor?: string }) => Promise<Page>,
): Promise<{ items: unknown[]; sizes: number[] }> {
  const items: unknown[] = [];
  const sizes: number[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await ask(cursor === null ? {} : { cursor });
    items.push(...page.items);
    sizes.push(page.items.length);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return { items, sizes };
}

/**
 * Creates a project with an execution in each possible state. It uses SQL, since delivery is not in this test
 * world.
 */
async function arrangeExecutions(orgId: string): Promise<void> {
  const projectId = newId();
  await world.rows(
    `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'WEB', 'Web', 'private', 'hosted')`,
    orgId,
    projectId,
  );
  await world.rows(
    `with ways (state, lease_ends, offer_ends) as (values
         ('available', null::interval, null::interval), ('submitted', null, null), ('completed', null, null),
         ('leased', '1 minute', null), ('leased', '-1 second', null),
         ('waiting_input', '1 minute', null), ('waiting_input', '-1 second', null),
         ('offered', null, '1 minute'), ('offered', null, '-1 second')),
       numbered as (select *, gen_random_uuid() as target_id from ways),
       held as (
         insert into leases (org_id, unit_type, unit_id, project_id, state, epoch, token_hash, holder, expires_at)
         select $1, 'story', target_id, $2, 'held', 1, sha256('x'), '{}', now() + lease_ends from numbered
         where lease_ends is not null)
     insert into executions (org_id, id, project_id, target_type, target_id, state, epoch, offer, completed_at)
     select $1, gen_random_uuid(), $2, 'story', target_id, state, 1,
       case when offer_ends is not null then jsonb_build_object('expiresAt', now() + offer_ends) end,
       case when state = 'completed' then now() end
     from numbered`,
    orgId,
    projectId,
  );
}

describe('operators of the installation', () => {
  it('see the organizations, by slug, with their owners, and those that are to be purged', async () => {
    const [zebra, aster] = [await arrangeOrgWithSlug('orgs-zebra'), await arrangeOrgWithSlug('orgs-aster')];
    const operator = await createPlatformOperator(zebra);
    await world.rows('update orgs set deleted_at = now() where id = $1', aster.orgId);
    const { items } = await operator.admin.platform.orgs({ query: 'ORGS-' });
    expect(items).toEqual([
      {
        id: aster.orgId,
        slug: 'orgs-aster',
        name: 'The orgs-aster',
        plan: 'team',
        status: 'active',
        seats: 25,
        owner: { email: 'ana@example.com', name: 'Ana' },
        createdAt: expect.stringMatching(/Z$/),
        deletedAt: expect.stringMatching(/Z$/),
      },
      expect.objectContaining({ id: zebra.orgId, deletedAt: null }),
    ]);
    expect((await operator.admin.platform.orgs({ query: 'the orgs-z' })).items).toHaveLength(1);
    // Wildcards in the query are ordinary characters.
    expect((await operator.admin.platform.orgs({ query: 'orgs_zebra' })).items).toEqual([]);
  });

  it('see a person once, however the address is written, with all organizations', async () => {
    const [one, two] = [await arrangeOrgWithSlug('people-one'), await arrangeOrgWithSlug('people-two')];
    const operator = await createPlatformOperator(one);
    const zoe = [
      await world.member(one.orgId, 'Zoe', 'member'),
      await world.member(two.orgId, 'Zoe', 'viewer'),
    ];
    await world.rows(
      `update members set email = 'ZOE@Example.com', name = 'Zoe Z' where id = $1`,
      zoe[1]?.me.memberId,
    );
    const { items } = await operator.admin.platform.accounts({ query: 'zoe@' });
    expect(items).toEqual([
      {
        email: 'ZOE@Example.com',
        name: 'Zoe Z',
        memberships: [
          { orgId: one.orgId, orgSlug: 'people-one', memberId: zoe[0]?.me.memberId, role: 'member' },
          { orgId: two.orgId, orgSlug: 'people-two', memberId: zoe[1]?.me.memberId, role: 'viewer' },
        ],
      },
    ]);
    expect((await operator.admin.platform.accounts({ query: 'oe z' })).items).toEqual(items);
    await world.rows(`update members set status = 'removed' where name like 'Zoe%'`);
    expect((await operator.admin.platform.accounts({ query: 'zoe@' })).items).toEqual([]);
  });

  it('see the teams of all organizations by name, and how many are in them', async () => {
    const [one, two] = [await arrangeOrgWithSlug('teams-one'), await arrangeOrgWithSlug('teams-two')];
    const operator = await createPlatformOperator(one);
    for (const [{ orgId, ana }, name] of [
      [one, 'Quokka'],
      [two, 'quail'],
    ] as const) {
      const id = newId();
      await world.rows('insert into teams (org_id, id, name) values ($1, $2, $3)', orgId, id, name);
      await world.rows(
        `insert into team_members (org_id, team_id, member_id, role) values ($1, $2, $3, 'lead')`,
        orgId,
        id,
        ana.me.memberId,
      );
    }
    const { items } = await operator.admin.platform.teams({ query: 'qu' });
    expect(items).toMatchObject([
      { name: 'quail', members: 1, org: { id: two.orgId, slug: 'teams-two', name: 'The teams-two' } },
      { name: 'Quokka', members: 1, org: { slug: 'teams-one' } },
    ]);
    expect((await operator.admin.platform.teams({ query: 'teams-two' })).items).toHaveLength(1);
    expect(
      (await readAllPages((cursor) => operator.admin.platform.teams({ query: 'qu', limit: 1, ...cursor })))
        .items,
    ).toEqual(items);
  });

  it('see what everybody subscribes to', async () => {
    const people = await arrangeOrgWithSlug('subscriber');
    const operator = await createPlatformOperator(people);
    expect((await operator.admin.platform.subscriptions({ query: 'subscriber' })).items).toMatchObject([
      {
        org: { id: people.orgId, slug: 'subscriber' },
        plan: 'team',
        status: 'active',
        seats: 25,
        version: 1,
      },
    ]);
  });

  it('see each list a page at a time, every item once', async () => {
    const operator = await createPlatformOperator(await world.org());
    const { accounts, orgs, subscriptions } = operator.admin.platform;
    for (const list of [accounts, orgs, subscriptions]) {
      const all = await list({ limit: 200 });
      expect(all.nextCursor).toBeNull();
      const paged = await readAllPages((cursor) => list({ limit: 3, ...cursor }));
      expect(paged.items).toEqual(all.items);
      expect(paged.sizes.slice(0, -1).every((size) => size === 3)).toBe(true);
    }
  });

  it('look at so many a page at most, and find on the next pages what is further on', async () => {
    const operator = await createPlatformOperator(await world.org());
    await world.rows(
      `with made as (
         insert into orgs (id, slug, name) select gen_random_uuid(), 'zz-' || lpad(n::text, 5, '0'), 'Many'
           from generate_series(1, $1::int + 1) n returning id)
       insert into subscriptions (org_id, plan, seats) select id, 'free', 1 from made`,
      maxSearchedRows,
    );
    await world.rows(
      `update orgs set name = 'Rare' where slug in ('zz-00001', $1, $2)`,
      `zz-0${maxSearchedRows}`,
      `zz-0${maxSearchedRows + 1}`,
    );
    // From this cursor on, the last row that the first page examines is a match.
    const start = Buffer.from(JSON.stringify(['zz-'])).toString('base64url');
    const { items, sizes } = await readAllPages((cursor) =>
      operator.admin.platform.orgs({ query: 'rare', cursor: start, ...cursor }),
    );
    const slugs = ['zz-00001', `zz-0${maxSearchedRows}`, `zz-0${maxSearchedRows + 1}`];
    expect(items).toMatchObject(slugs.map((slug) => ({ slug })));
    expect(sizes).toEqual([2, 1]);
    await world.rows(`delete from orgs where slug like 'zz-%'`);
  });

  it('see the installation in numbers', async () => {
    const people = await world.org();
    const operator = await createPlatformOperator(people);
    const { metrics: before } = await operator.admin.platform.metrics();
    const more = await world.org({ plan: 'free' });
    const outbox = (topic: string, columns: string, values: string) =>
      world.rows(
        `insert into outbox (org_id, id, topic, payload, ${columns}) values ($1, $2, $3, '{}', ${values})`,
        more.orgId,
        newId(),
        topic,
      );
    await outbox('event', 'dispatch_after', `now() - interval '90 s'`);
    await outbox('event', 'done_at', 'now()');
    await outbox('invitation.mail', 'dispatch_after', `now() + interval '1 h'`);
    await outbox('invitation.mail', 'dispatch_after, attempts', `now() + interval '10 s', 1`);
    await outbox('invitation.mail', 'dead_at', 'now()');
    await world.rows(
      `with entries as (
         insert into audit (org_id, seq, id, at, actor, operation, outcome, request_id)
         values ($1, 1, $2, now() - interval '25 h', '{}', 'x', 'allowed', 'x'), ($1, 2, $3, now(), '{}', 'x', 'allowed', 'x'))
       update streams set audit = 2 where org_id = $1`,
      more.orgId,
      newId(),
      newId(),
    );
    await arrangeExecutions(more.orgId);
    const { metrics } = await operator.admin.platform.metrics();
    const nothing = { waiting: 0, active: 0, delayed: 0, failed: 0 };
    expect(metrics).toEqual({
      orgs: before.orgs + 1,
      // Both organizations have the same people, identified by their e-mail addresses.
      accounts: before.accounts,
      projects: before.projects + 1,
      stories: before.stories,
      estimated: [],
      plans: { ...before.plans, free: before.plans.free + 1 },
      executions: {
        ...before.executions,
        available: before.executions.available + 2,
        leased: before.executions.leased + 1,
        waiting_input: before.executions.waiting_input + 1,
        stalled: before.executions.stalled + 2,
        offered: before.executions.offered + 1,
        submitted: before.executions.submitted + 1,
        completed: before.executions.completed + 1,
      },
      // Each kind of job is listed, including those without jobs.
      queues: {
        ...Object.fromEntries(jobNames.filter(isOutboxJob).map((name) => [name, nothing])),
        event: { waiting: 1, active: 0, delayed: 0, failed: 0 },
        'invitation.mail': { waiting: 0, active: 1, delayed: 1, failed: 1 },
      },
      outboxLagSeconds: expect.any(Number),
      operationsLast24h: before.operationsLast24h + 1,
      measuredAt: expect.stringMatching(/Z$/),
    });
    expect(metrics.outboxLagSeconds).toBeGreaterThanOrEqual(90);
    expect(metrics.outboxLagSeconds).toBeLessThan(600);
  });

  it('count the entries of the last 24 hours by their numbers: no older ones, and none that a loss passed over', async () => {
    const operator = await createPlatformOperator(await world.org());
    const last24h = async () => (await operator.admin.platform.metrics()).metrics.operationsLast24h;
    const before = await last24h();
    const busy = await world.org();
    const quiet = await world.org();
    const leave = (orgId: string, first: number, last: number, age: string) =>
      world.rows(
        `with entries as (
           insert into audit (org_id, seq, id, at, actor, operation, outcome, request_id)
           select $1, n, gen_random_uuid(), now() - $4::interval, '{}', 'stories.update', 'allowed', 'r'
           from generate_series($2::int, $3::int) n)
         update streams set audit = $3 where org_id = $1`,
        ...[orgId, first, last, age],
      );
    await leave(busy.orgId, 1, 40, '25 hours');
    await leave(busy.orgId, 41, 70, '23 hours');
    await leave(quiet.orgId, 1, 5, '2 days');
    expect(await last24h()).toBe(before + 30);
    await world.rows('select app.go_beyond_loss($1, 1000, 1000000)', busy.orgId);
    expect(await last24h()).toBe(before + 30);
    await leave(busy.orgId, 1_000_071, 1_000_074, '1 hour');
    expect(await last24h()).toBe(before + 34);
    // All calls from before the loss are now older than a day.
    await world.rows(
      `update audit set at = now() - interval '3 days' where org_id = $1 and seq <= 70`,
      busy.orgId,
    );
    expect(await last24h()).toBe(before + 4);
  });

  it('take no cursor that a list did not give', async () => {
    const operator = await createPlatformOperator(await world.org());
    for (const key of [[1], ['a', 'b', 'c'], ['a\0'], ['a', 'no uuid']]) {
      const cursor = Buffer.from(JSON.stringify(key)).toString('base64url');
      await expect(operator.admin.platform.teams({ cursor })).rejects.toMatchObject({ status: 400 });
    }
  });
});

describe('nobody else', () => {
  it('sees any of it, whatever the role, and operators do nothing else with their token', async () => {
    const people = await world.org();
    const owner = await createTokenWithScopes(people, ['read', 'write', 'admin']);
    const { accounts, orgs, teams, subscriptions, metrics } = owner.admin.platform;
    for (const ask of [accounts, orgs, teams, subscriptions, metrics])
      await expect(ask()).rejects.toMatchObject({ status: 403, body: { details: { reason: 'scope' } } });
  });

  it('comes past the database either: it asks for the pass by itself, and gives it to no other token', async () => {
    const people = await world.org();
    const operator = await createPlatformOperator(people);
    const calls = [
      `app.platform_orgs(null, null, 10, 10)`,
      `app.platform_accounts(null, null, 10, 10)`,
      `app.platform_teams(null, null, null, 10, 10)`,
      `app.platform_subscriptions(null, null, 10, 10)`,
      `app.platform_metrics()`,
      `app.platform_executions()`,
    ];
    const client = await world.database.app.connect();
    const attempt = async (
      token: PersonOf<typeof world> | null,
      target: 'platform' | null,
      call: string,
      pass?: string,
    ) => {
      await client.query('begin');
      try {
        if (token !== null)
          await client.query(`select app.enter(sha256($1), 1, $2, '', 0, null, null, null, null, null)`, [
            Buffer.from(token.me.token),
            target,
          ]);
        if (pass !== undefined)
          await client.query(`select set_config('muster.platform_pass', $1, true)`, [pass]);
        return (await client.query(`select * from ${call}`)).rows.length;
      } catch (error) {
        return error instanceof Error && 'code' in error ? error.code : error;
      } finally {
        await client.query('rollback');
      }
    };
    try {
      for (const call of calls) {
        expect(await attempt(null, null, call)).toBe('MU403');
        expect(await attempt(people.ana, null, call)).toBe('MU403');
        // `app.enter` sets `muster.platform_pass` only for platform tokens, and only for operations that
        // request it.
        expect(await attempt(people.ana, 'platform', call)).toBe('MU403');
        expect(await attempt(operator, null, call)).toBe('MU403');
        for (const pass of ['', 'on', '00'.repeat(32)])
          expect(await attempt(people.ana, null, call, pass)).toBe(pass === 'on' ? '22023' : 'MU403');
        expect(await attempt(operator, 'platform', call)).not.toBe('MU403');
      }
      await world.rows(
        `update tokens set revoked_at = now() where hash = sha256($1)`,
        Buffer.from(operator.me.token),
      );
      for (const call of calls) expect(await attempt(operator, 'platform', call)).toBe('MU401');
    } finally {
      client.release();
    }
  });

  it('finds it in an audit: these are reads', async () => {
    const people = await world.org();
    const operator = await createPlatformOperator(people);
    await operator.admin.platform.orgs();
    expect(await world.rows('select operation from audit where org_id = $1', people.orgId)).toEqual([]);
  });
});
