/** Checks that a Postgres server meets the requirements. */
import pg from 'pg';
import { isSchemaCurrent } from './function-files.ts';

/**
 * The lowest supported major version. `casefold`, by which search compares words, and the collation
 * `pg_unicode_fast` were added in it.
 */
export const minPostgresVersion = 18;

/** Returns a sentence if the server can never run Muster; undefined if it can. Throws the errors of pg. */
export async function describeServerFault(connection: Pick<pg.Client, 'query'>): Promise<string | undefined> {
  const { rows } = await connection.query<{ version: number; encoding: string }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`,
  );
  const [{ version, encoding } = { version: 0, encoding: '' }] = rows;
  const major = Math.floor(version / 10_000);
  if (major < minPostgresVersion)
    return `PostgreSQL ${minPostgresVersion} or newer is required, and the server is PostgreSQL ${major}.${version % 10_000}`;
  if (encoding !== 'UTF8') return `the database must have the encoding UTF8, and its encoding is ${encoding}`;
  return undefined;
}

/**
 * Checks the server at an address with its own login, since the roles of services are created by the
 * migrations.
 */
export async function describeServerFaultAt(url: string): Promise<string | undefined> {
  const limits = { connectionTimeoutMillis: 5_000, query_timeout: 5_000 };
  const client = new pg.Client({ connectionString: url, ...limits });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await describeServerFault(client);
  } finally {
    await client.end();
  }
}

/** Returns the health check that makes a service ready: a suitable server with the schema of this release. */
export const postgresHealthCheck = (pool: pg.Pool, url: string) => ({
  name: 'postgres',
  needed: true,
  run: async () =>
    (await isSchemaCurrent(pool)) ? undefined : 'the database schema is out of date; run the migrations',
  findPermanentFault: () => describeServerFaultAt(url),
});
