/** Which Postgres will do. */
import pg from 'pg';
import { isSchemaCurrent } from './function-files.ts';

/** `casefold`, by which search compares words, and the collation `pg_unicode_fast` came with it. */
export const leastPostgres = 18;

/** A sentence for a server that can never carry Muster; undefined for one that can. Throws what pg throws. */
export async function faultOfServer(connection: Pick<pg.Client, 'query'>): Promise<string | undefined> {
  const { rows } = await connection.query<{ version: number; encoding: string }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`,
  );
  const [{ version, encoding } = { version: 0, encoding: '' }] = rows;
  const major = Math.floor(version / 10_000);
  if (major < leastPostgres)
    return `this needs PostgreSQL ${leastPostgres} or newer, and the server is PostgreSQL ${major}.${version % 10_000}`;
  if (encoding !== 'UTF8')
    return `this needs a database whose encoding is UTF8, and the encoding of this one is ${encoding}`;
  return undefined;
}

/** The same of the server at an address, as its login: the roles of services come with the migrations. */
export async function faultOfServerAt(url: string): Promise<string | undefined> {
  const limits = { connectionTimeoutMillis: 5_000, query_timeout: 5_000 };
  const client = new pg.Client({ connectionString: url, ...limits });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await faultOfServer(client);
  } finally {
    await client.end();
  }
}

/** What makes a service ready, as its health asks it: a server that can carry Muster, with the schema of this release. */
export const postgresCheck = (pool: pg.Pool, url: string) => ({
  name: 'postgres',
  needed: true,
  run: async () => ((await isSchemaCurrent(pool)) ? undefined : 'the schema is not current'),
  faultForGood: () => faultOfServerAt(url),
});
