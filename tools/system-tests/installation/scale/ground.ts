/** The test environment of moves: two servers, the services on them, and organizations with one person. */
import type * as jest from '@jest/globals';
import { type Client, connect } from '@muster/client';
import { createOrganization, createToken } from '@muster/organizations';
import { type Node } from '@muster/placement';
import {
  makeThrowAwayFolder,
  type Redis,
  startRedis,
  startThrowAwayApi,
  startThrowAwayApp,
  type ThrowAwayApi,
  type ThrowAwayApp,
} from '@muster/tools';
import { nodeName, type Servers } from './servers.ts';

/** The functions of Jest that a spec needs. */
export type Jest = Pick<typeof jest, 'afterAll' | 'beforeAll' | 'describe' | 'expect' | 'it'>;

export const minutes = 60_000;

export interface Founded {
  readonly orgId: string;
  readonly token: string;
  readonly ana: Client;
  readonly projectId: string;
}

export interface ScaleServers {
  readonly nodes: () => Servers['nodes'];
  readonly home: () => Node;
  readonly east: () => Node;
  readonly eastUrl: () => string;
  /**
   * Returns the address of one of two API processes in turn. One does not notice what the other learns about
   * a move.
   */
  readonly apiUrl: (nth: number) => string;
  readonly foundOrg: (slug: string, node: string) => Promise<Founded>;
  readonly rowsAt: <Row>(at: Node, sql: string, ...values: unknown[]) => Promise<Row[]>;
  /** Counts the rows of an organization in all tables. */
  readonly countAt: (at: Node, orgId: string) => Promise<number>;
  /** Lists everything that a server stores because of a move, by kind. */
  readonly leftAt: (at: Node) => Promise<unknown>;
}

interface Running {
  readonly servers: Servers;
  readonly redis: Redis;
  readonly apis: readonly ThrowAwayApi[];
  readonly worker: ThrowAwayApp;
}

async function startAll(start: () => Promise<Servers>): Promise<Running> {
  const [servers, redis] = await Promise.all([start(), startRedis({ durable: false })]);
  const environment = { ...servers.environment, REDIS_URL: redis.url };
  const { DATABASE_URL: databaseUrl } = environment;
  const apis = [
    await startThrowAwayApi({ databaseUrl, log: 'warn', environment }),
    await startThrowAwayApi({ databaseUrl, log: 'warn', environment }),
  ];
  const worker = await startThrowAwayApp('delivery-worker', {
    log: 'warn',
    environment: {
      ...{ ...environment, BASE_URL: apis[0]?.url ?? '' },
      MAIL_FOLDER: await makeThrowAwayFolder('muster-mail-', undefined),
    },
  });
  return { servers, redis, apis, worker };
}

async function stopAll({ servers, redis, apis, worker }: Running): Promise<void> {
  await worker.stop();
  await Promise.all(apis.map((api) => api.stop()));
  await redis.stop();
  await servers.stop();
}

async function foundOrganization(
  { pool }: Node,
  apiUrl: string,
  slug: string,
  node: string,
): Promise<Founded> {
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
  const ana = connect({ baseUrl: apiUrl, token });
  const { project } = await ana.projects.create({ key: 'WEB', name: 'Website' });
  return { orgId: org.id, token, ana, projectId: project.id };
}

const rowsAt = async <Row>({ pool }: Node, sql: string, ...values: unknown[]): Promise<Row[]> =>
  (await pool.query(sql, values)).rows as Row[];

async function countAt(at: Node, orgId: string): Promise<number> {
  const tables = await rowsAt<{ name: string }>(
    at,
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id'
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  );
  const counts = tables.map(({ name }) => `(select count(*) from ${name} where org_id = $1)`);
  const [row] = await rowsAt<{ all: number }>(
    at,
    `select (${counts.join(' + ')} + (select count(*) from orgs where id = $1))::int as all`,
    orgId,
  );
  return row?.all ?? -1;
}

/** The result of leftAt for a server that stores nothing because of a move. */
export const nothing = [[], [], [], [], []];

const leftAt = async (at: Node): Promise<unknown> => [
  await rowsAt(at, `select tgname from pg_trigger where tgname like 'leaves %'`),
  await rowsAt(at, 'select slot_name from pg_replication_slots where database = current_database()'),
  await rowsAt(at, 'select pubname from pg_publication'),
  await rowsAt(
    at,
    'select subname from pg_subscription s join pg_database d on d.oid = s.subdbid where d.datname = current_database()',
  ),
  await rowsAt(at, 'select org_id from app.closed_orgs'),
];

export function useGround(
  { afterAll, beforeAll }: Pick<Jest, 'afterAll' | 'beforeAll'>,
  start: () => Promise<Servers>,
): ScaleServers {
  let running: Running;
  beforeAll(async () => {
    running = await startAll(start);
  }, 5 * minutes);
  afterAll(() => stopAll(running), minutes);

  const home = (): Node => running.servers.nodes[0];
  const east = (): Node => {
    const found = running.servers.nodes.find(({ name }) => name === nodeName);
    if (found === undefined) throw new Error('there is no second server');
    return found;
  };
  const apiUrl = (nth: number): string => running.apis[nth % 2]?.url ?? '';

  return {
    ...{ home, east, apiUrl, rowsAt, countAt, leftAt },
    nodes: () => running.servers.nodes,
    eastUrl: () => running.servers.eastUrl,
    foundOrg: (slug, node) => foundOrganization(home(), apiUrl(0), slug, node),
  };
}
