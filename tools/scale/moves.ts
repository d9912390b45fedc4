/** What has to hold when an organization moves while its people work. The specs run it on different servers. */
import type * as jest from '@jest/globals';
import { type Client, connect } from '@muster/client';
import { moveOrganization, type Moved, type Node } from '@muster/database';
import { createOrganization, createToken } from '@muster/organizations';
import { startRedis, type Redis } from '../dev/redis.ts';
import { startThrowAwayApi, type ThrowAwayApi } from '../dev/throw-away-api.ts';
import { startThrowAwayApp, type ThrowAwayApp } from '../dev/throw-away-app.ts';
import { makeThrowAwayFolder } from '../dev/throw-away.ts';
import { until } from '@muster/testing';
import { nodeName, type Servers } from './servers.ts';
import { type Call, startWriter, type Written } from './writers.ts';

const minutes = 60_000;
const writers = 8;

/** What a spec has of Jest. */
type Jest = Pick<typeof jest, 'afterAll' | 'beforeAll' | 'describe' | 'expect' | 'it'>;

export function itMovesOrganizations(
  { afterAll, beforeAll, describe, expect, it }: Jest,
  start: () => Promise<Servers>,
): void {
  let servers: Servers;
  let redis: Redis;
  let apis: ThrowAwayApi[];
  let worker: ThrowAwayApp;

  const home = (): Node => servers.nodes.home;
  const east = (): Node => {
    const found = servers.nodes.all.find(({ name }) => name === nodeName);
    if (found === undefined) throw new Error('there is no second server');
    return found;
  };
  const rowsAt = async <Row>({ pool }: Node, sql: string, ...values: unknown[]): Promise<Row[]> =>
    (await pool.query(sql, values)).rows as Row[];

  beforeAll(async () => {
    [servers, redis] = await Promise.all([start(), startRedis({ durable: false })]);
    const environment = { ...servers.environment, REDIS_URL: redis.url };
    const { DATABASE_URL: databaseUrl } = environment;
    // Two: what one of them learns of a move, the other does not hear.
    apis = [
      await startThrowAwayApi({ databaseUrl, log: 'warn', environment }),
      await startThrowAwayApi({ databaseUrl, log: 'warn', environment }),
    ];
    worker = await startThrowAwayApp('delivery-worker', {
      log: 'warn',
      environment: {
        ...{ ...environment, BASE_URL: apis[0]?.url ?? '' },
        MAIL_FOLDER: await makeThrowAwayFolder('muster-mail-', undefined),
      },
    });
  }, 5 * minutes);
  afterAll(async () => {
    await worker.stop();
    await Promise.all(apis.map((api) => api.stop()));
    await redis.stop();
    await servers.stop();
  }, minutes);

  interface Founded {
    readonly orgId: string;
    readonly token: string;
    readonly ana: Client;
    readonly projectId: string;
  }

  async function found(slug: string, node: string): Promise<Founded> {
    const { pool } = home();
    const owner = { email: `ana@${slug}.example`, name: 'Ana' };
    const { org } = await createOrganization(pool, {
      name: slug,
      slug,
      plan: 'team',
      seats: 25,
      owner,
      node,
    });
    const { token } = await createToken(pool, {
      org: slug,
      member: owner.email,
      name: 'ana',
      scopes: ['admin'],
    });
    const ana = connect({ baseUrl: apis[0]?.url ?? '', token });
    const { project } = await ana.projects.create({ key: 'WEB', name: 'Website' });
    return { orgId: org.id, token, ana, projectId: project.id };
  }

  /** By turns a story, what is said about it, work on it, and its end; each is there once, or not at all. */
  const scriptOf = (projectId: string, who: number) => {
    let turn = 0;
    let story = '';
    return (lastId: string | undefined): Call => {
      turn += 1;
      if (turn % 4 === 2) story = lastId ?? '';
      switch (turn % 4) {
        case 1:
          return {
            operation: 'stories.create',
            params: { projectId, title: `Writer ${who}, turn ${turn}` },
            idOf: (answer) => answer['story']?.id,
          };
        case 2:
          return {
            operation: 'comments.create',
            params: { storyId: story, body: `Writer ${who}, turn ${turn}` },
            idOf: (answer) => answer['comment']?.id,
          };
        case 3:
          return {
            operation: 'deliveryExecutions.acquire',
            params: { targetType: 'story', targetId: story },
            idOf: (answer) => answer['execution']?.id,
          };
        default:
          return {
            operation: 'stories.update',
            params: { storyId: story, title: `Writer ${who} was here` },
            idOf: (answer) => answer['story']?.id,
          };
      }
    };
  };

  const tables = async (at: Node): Promise<string[]> =>
    (
      await rowsAt<{ name: string }>(
        at,
        `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id'
         where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
      )
    ).map(({ name }) => name);

  /** How many rows of an organization there are in all tables. */
  async function countAt(at: Node, orgId: string): Promise<number> {
    const counts = (await tables(at)).map((name) => `(select count(*) from ${name} where org_id = $1)`);
    const [row] = await rowsAt<{ all: number }>(
      at,
      `select (${counts.join(' + ')} + (select count(*) from orgs where id = $1))::int as all`,
      orgId,
    );
    return row?.all ?? -1;
  }

  /** Everything that a server has because of a move. */
  const leftAt = async (at: Node): Promise<unknown> => [
    await rowsAt(at, `select tgname from pg_trigger where tgname like 'leaves %'`),
    await rowsAt(at, 'select org_id from app.changed_rows'),
    await rowsAt(at, 'select org_id from app.closed_orgs'),
  ];

  async function moveUnderWriters(
    { orgId, token, projectId }: Founded,
    to: Node,
  ): Promise<[Moved, Written[]]> {
    const writing = Array.from({ length: writers }, (_, who) =>
      startWriter({ url: apis[who % 2]?.url ?? '', token, next: scriptOf(projectId, who) }),
    );
    const all = (count: number) => () => writing.every((writer) => writer.count() >= count);
    await until(all(4));
    const moved = await moveOrganization(servers.nodes, { orgId, to });
    if (moved === undefined) throw new Error('it was there already');
    const soFar = Math.max(...writing.map((writer) => writer.count()));
    await until(all(soFar + 4));
    return [moved, await Promise.all(writing.map((writer) => writer.stop()))];
  }

  describe('an organization that moves while eight people write', () => {
    let acme: Founded;
    let other: Founded;
    const written: Written[] = [];
    const expectAll = async (at: Node): Promise<void> => {
      for (const [operation, table] of [
        ['stories.create', 'stories'],
        ['comments.create', 'comments'],
        ['deliveryExecutions.acquire', 'executions'],
      ] as const) {
        const ids = written.flatMap(({ accepted }) => accepted.get(operation) ?? []).sort();
        const rows = await rowsAt<{ id: string }>(
          at,
          `select id from ${table} where org_id = $1 order by id`,
          acme.orgId,
        );
        expect({ table, ids: rows.map(({ id }) => id) }).toEqual({ table, ids });
      }
    };

    beforeAll(async () => {
      acme = await found('acme', 'home');
      other = await found('other', 'home');
    }, minutes);

    it(
      'has every write that was accepted once, and refused none for good',
      async () => {
        const neighbour = startWriter({
          ...{ url: apis[0]?.url ?? '', token: other.token },
          next: scriptOf(other.projectId, 0),
        });
        const [moved, all] = await moveUnderWriters(acme, east());
        written.push(...all);
        const undisturbed = await neighbour.stop();
        const gap = Math.max(...all.map(({ longestGapMillis }) => longestGapMillis));
        process.stderr.write(
          `moved ${moved.rows} rows and ${moved.changed} changes: closed for ${moved.closedMillis} ms, the longest pause of a writer ${Math.round(gap)} ms\n`,
        );
        expect(all.flatMap(({ refusals }) => refusals).filter(({ isRetryable }) => !isRetryable)).toEqual([]);
        expect(undisturbed.refusals).toEqual([]);
        await expectAll(east());
      },
      3 * minutes,
    );

    it('left nothing at the server that it was at', async () => {
      expect(await countAt(home(), acme.orgId)).toBe(0);
      expect(await leftAt(home())).toEqual([[], [], []]);
      expect(await rowsAt(home(), 'select node, moving_to, left_from from app.org_places')).toEqual([
        { node: nodeName, moving_to: null, left_from: null },
      ]);
    });

    it('has streams without a gap', async () => {
      const [numbers] = await rowsAt<Record<string, number>>(
        east(),
        `select s.activity, s.audit,
           (select count(*)::int from activity a where a.org_id = s.org_id) as activities, (select max(seq)::int from activity a where a.org_id = s.org_id) as last_activity,
           (select count(*)::int from audit a where a.org_id = s.org_id) as audits, (select max(seq)::int from audit a where a.org_id = s.org_id) as last_audit
         from streams s where s.org_id = $1`,
        acme.orgId,
      );
      const { activity, audit } = numbers ?? {};
      expect(numbers).toEqual({
        ...{ activity, activities: activity, last_activity: activity },
        ...{ audit, audits: audit, last_audit: audit },
      });
    });

    it(
      'has all jobs done that its writes asked for',
      async () => {
        const undone = () =>
          rowsAt<{ n: number }>(
            east(),
            'select count(*)::int as n from outbox where org_id = $1 and done_at is null',
            acme.orgId,
          );
        await until(async () => (await undone())[0]?.n === 0);
      },
      minutes,
    );

    it(
      'moves back home in the same way',
      async () => {
        const [, all] = await moveUnderWriters(acme, home());
        written.push(...all);
        await expectAll(home());
        expect(await countAt(east(), acme.orgId)).toBe(0);
        expect(await leftAt(east())).toEqual([[], [], []]);
        expect(await rowsAt(home(), 'select from app.org_places')).toEqual([]);
      },
      3 * minutes,
    );
  });

  describe('who works in an organization that moves', () => {
    it(
      'goes on holding work, is answered by the same key, and the next holder has the next epoch',
      async () => {
        const beta = await found('beta', 'home');
        const { story } = await beta.ana.stories.create({ projectId: beta.projectId, title: 'Build it' });
        const held = await beta.ana.deliveryExecutions.acquire({ targetType: 'story', targetId: story.id });
        const create = () =>
          beta.ana.stories.create(
            { projectId: beta.projectId, title: 'Only once' },
            { idempotencyKey: 'once' },
          );
        const first = await create();
        const { cursor } = await beta.ana.events.list({ after: 'latest' });
        await moveOrganization(servers.nodes, { orgId: beta.orgId, to: east() });

        const { executionId, leaseToken } = { executionId: held.execution.id, leaseToken: held.leaseToken };
        await beta.ana.deliveryExecutions.renew({ executionId, leaseToken });
        expect(await create()).toEqual(first);
        await beta.ana.deliveryExecutions.release({ executionId, leaseToken });
        const { token } = await createToken(home().pool, {
          ...{ org: 'beta', member: 'ana@beta.example', agent: 'Robo', name: 'robo', scopes: ['write'] },
        });
        const robo = connect({ baseUrl: apis[1]?.url ?? '', token });
        const next = await robo.deliveryExecutions.acquire({ targetType: 'story', targetId: story.id });
        expect(next.execution.lease?.epoch).toBe((held.execution.lease?.epoch ?? 0) + 1);
        const { items } = await beta.ana.events.list({ after: cursor });
        expect(items.map(({ kind }) => kind)).toContain('execution.released');
      },
      minutes,
    );
  });

  describe('a move that is cut off', () => {
    const crash = new Error('cut off by the spec');
    it.each(['noting', 'copied', 'caught up', 'closed'] as const)(
      'after %s leaves the organization where it was, and can be made again',
      async (step) => {
        const gamma = await found(`gamma-${step.replace(' ', '-')}`, 'home');
        const cut = moveOrganization(
          servers.nodes,
          { orgId: gamma.orgId, to: east() },
          { after: async (done) => (done === step ? Promise.reject(crash) : undefined) },
        );
        await expect(cut).rejects.toBe(crash);
        await gamma.ana.stories.create({ projectId: gamma.projectId, title: 'Still here' });
        expect(await countAt(east(), gamma.orgId)).toBe(0);
        expect(await leftAt(home())).toEqual([[], [], []]);
        await moveOrganization(servers.nodes, { orgId: gamma.orgId, to: east() });
        const { items } = await gamma.ana.stories.list({ projectId: 'WEB' });
        expect(items.map(({ title }) => title)).toEqual(['Still here']);
      },
      minutes,
    );

    it(
      'after the switch is at the new server, and the next one removes what was left',
      async () => {
        const delta = await found('delta', 'home');
        const cut = moveOrganization(
          servers.nodes,
          { orgId: delta.orgId, to: east() },
          { after: async (done) => (done === 'switched' ? Promise.reject(crash) : undefined) },
        );
        await expect(cut).rejects.toBe(crash);
        await delta.ana.stories.create({ projectId: delta.projectId, title: 'Over there' });
        expect(await countAt(home(), delta.orgId)).toBeGreaterThan(0);
        expect(await moveOrganization(servers.nodes, { orgId: delta.orgId, to: east() })).toBeUndefined();
        expect(await countAt(home(), delta.orgId)).toBe(0);
        expect(await leftAt(home())).toEqual([[], [], []]);
      },
      minutes,
    );
  });
}
