/**
 * Two Postgres servers, each with an empty database of the newest schema. The first is the primary server.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { createPool } from '@muster/driver';
import { migrate } from '@muster/migrations';
import { type AllNodes, joinNodes } from '@muster/placement';
import { startPostgres } from '@muster/tools';

export interface Servers {
  /** The database servers, with the login that owns the tables. */
  readonly nodes: AllNodes;
  /** The environment for services. */
  readonly environment: { readonly DATABASE_URL: string; readonly DATABASE_NODES: string };
  /** The address of the second server's database with the owner's login. */
  readonly eastUrl: string;
  readonly stop: () => Promise<void>;
}

export const nodeName = 'east';

async function serversAt(
  [home, east]: readonly [string, string],
  stop: () => Promise<void>,
): Promise<Servers> {
  await Promise.all([migrate(home), migrate(east)]);
  const open = (url: string) => createPool({ url, role: null, max: 4 });
  const nodes = joinNodes(open(home), [{ name: nodeName, pool: open(east) }]);
  return {
    nodes,
    environment: { DATABASE_URL: home, DATABASE_NODES: `${nodeName}=${east}` },
    eastUrl: east,
    stop: async () => {
      await Promise.all(nodes.map(({ pool }) => pool.end()));
      await stop();
    },
  };
}

/** Moves of organizations between servers use logical replication. */
const settings = { wal_level: 'logical' };

/** Starts two clusters, which end with this process. */
export async function startServers(): Promise<Servers> {
  const [home, east] = await Promise.all([
    startPostgres({ durable: false, settings }),
    startPostgres({ durable: false, settings }),
  ]);
  return serversAt([home.url, east.url], async () => {
    await Promise.all([home.stop(), east.stop()]);
  });
}

/**
 * Creates a database for this run on each of two existing servers, which is deleted when they are stopped.
 * The logins are superusers.
 */
export async function useServers(urls: readonly [string, string]): Promise<Servers> {
  const name = `muster_scale_${randomBytes(6).toString('hex')}`;
  const onServer = async (url: string, statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  for (const url of urls) await onServer(url, `create database ${name}`);
  const [home, east] = urls.map((url) => Object.assign(new URL(url), { pathname: `/${name}` }).href);
  return serversAt([home ?? '', east ?? ''], async () => {
    for (const url of urls) await onServer(url, `drop database ${name} with (force)`);
  });
}
