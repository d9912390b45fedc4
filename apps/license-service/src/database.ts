/** The service's own schema, and what an installation needs before its first license: secrets and a signing key. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import {
  BurstError,
  commandConnectMillis,
  connectionFault,
  createPool,
  DatabaseAway,
  DatabaseBusy,
  type Pool,
  sendRead,
  sendShortWrite,
} from '@muster/driver';
import { migrate, migrationNames } from '@muster/migrations';
import { locks } from './operators/locks.ts';
import { nameOfEndpoint } from './operators/webhooks.ts';
import { seal, unseal } from './signing/seal.ts';
import { newSigningKey } from './signing/signing-key.ts';

/** Beside this file, and beside the bundle. */
const folder = path.join(import.meta.dirname, 'migrations');
const schema = 'licenses';

export const migrateLicenses = (url: string): Promise<string[]> => migrate(url, { folder, schema });

/** Whether the newest migration is there. */
export async function isSchemaCurrent(pool: Pool): Promise<boolean> {
  const newest = migrationNames(folder).at(-1);
  const { rows } = await pool.query(`select from ${schema}.applied_migrations where name = $1`, [newest]);
  return rows.length === 1;
}

type Queryable = Pick<Pool, 'query'>;

/** Secrets of the environment, where it has them. */
export interface GivenSecrets {
  readonly pepper: string | undefined;
  readonly pepperBefore: string | undefined;
  readonly seal: string | undefined;
}

export interface Secrets {
  readonly pepper: string | Buffer;
  readonly pepperBefore: string | Buffer | null;
  /** The first seals, all open; none where the database's own was deleted and the environment says none. */
  readonly seals: readonly (string | Buffer)[];
}

/**
 * What the environment says; where it says nothing the secret of the database, which is also the one before as soon as
 * the environment says something.
 */
export async function loadSecrets(pool: Pool, given: GivenSecrets): Promise<Secrets> {
  const { rows } = await pool.query<{ name: string; value: Buffer }>(
    'select name, value from licenses.secrets',
  );
  const found = (name: string): Buffer | undefined => rows.find((one) => one.name === name)?.value;
  const ownPepper = (): Buffer => {
    const value = found('pepper');
    if (value === undefined) throw new Error('the secret pepper is not in the database yet');
    return value;
  };
  const { pepper, pepperBefore } = given;
  return {
    pepper: pepper ?? ownPepper(),
    pepperBefore: pepperBefore ?? (pepper === undefined ? null : ownPepper()),
    seals: [given.seal, found('seal')].filter((one) => one !== undefined),
  };
}

/** The secret of this name in the database, made where there is none yet. */
async function keepSecret(client: Queryable, name: 'pepper' | 'seal'): Promise<Buffer> {
  const fresh = randomBytes(32);
  await client.query('insert into licenses.secrets (name, value) values ($1, $2) on conflict do nothing', [
    name,
    fresh,
  ]);
  const { rows } = await client.query<{ value: Buffer }>(
    'select value from licenses.secrets where name = $1',
    [name],
  );
  return rows[0]?.value ?? fresh;
}

/** Where sealed texts are, and under which name each was sealed. */
const sealed = [
  { table: 'signing_keys', id: 'kid', column: 'sealed_key', nameOf: (id: string) => id },
  { table: 'webhook_endpoints', id: 'id', column: 'sealed_secret', nameOf: nameOfEndpoint },
  { table: 'webhook_endpoints', id: 'id', column: 'sealed_secret_before', nameOf: nameOfEndpoint },
] as const;

/** Seals with the environment's secret what the database's own seals, and deletes that: it would open all beside it. */
async function moveSealOut(client: Queryable, given: string): Promise<void> {
  const { rows: secrets } = await client.query<{ value: Buffer }>(
    `delete from licenses.secrets where name = 'seal' returning value`,
  );
  const before = secrets[0]?.value;
  if (before === undefined) return;
  for (const { table, id, column, nameOf } of sealed) {
    const { rows } = await client.query<{ id: string; bytes: Buffer }>(
      `select ${id}::text as id, ${column} as bytes from licenses.${table} where ${column} is not null for update`,
    );
    for (const row of rows) {
      const name = nameOf(row.id);
      const plain = unseal(before, name, row.bytes);
      if (plain === undefined) continue;
      await client.query(`update licenses.${table} set ${column} = $2 where ${id}::text = $1`, [
        row.id,
        seal(given, name, plain),
      ]);
    }
  }
}

/** Whether the login of the pool may bring the schema up to date: the owner of its tables, or who may make the schema. */
export async function mayProvision(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ may: boolean }>(
    `select case when c.oid is null then has_database_privilege(session_user, current_database(), 'create')
                 else pg_has_role(session_user, c.relowner, 'usage') end as may
       from (select to_regclass($1) as oid) n left join pg_class c on c.oid = n.oid`,
    [`${schema}.applied_migrations`],
  );
  return rows[0]?.may === true;
}

/**
 * Brings a database to where the service can work. Safe to run again, and from several places at once. `url` is a
 * login that may create roles and schemas.
 */
export async function provision(url: string, given: GivenSecrets): Promise<string[]> {
  const applied = await migrateLicenses(url);
  const pool = createPool({
    url,
    role: null,
    max: 1,
    name: 'license-service-provision',
    connectWithinMillis: commandConnectMillis,
  });
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [locks.provision]);
    await keepSecret(client, 'pepper');
    const secret = given.seal ?? (await keepSecret(client, 'seal'));
    if (given.seal !== undefined) await moveSealOut(client, given.seal);
    const { rows } = await client.query('select from licenses.signing_keys limit 1');
    if (rows.length === 0) {
      const { kid, publicKey, sealedKey } = newSigningKey(secret);
      await client.query(
        `insert into licenses.signing_keys (kid, public_key, sealed_key, active_from)
         values ($1, $2, $3, clock_timestamp())`,
        [kid, publicKey, sealedKey],
      );
    }
    await client.query('commit');
  } finally {
    client.release(true);
    await pool.end();
  }
  return applied;
}

/** States of Postgres in which the same call can succeed later: going away, or full or too slow at the moment. */
const goingAway = /^(08|57P|25P)/;
const busy = /^53|^(40001|40P01|55P03|57014)$/;
/** No schema or no role yet: another process is about to make them. */
const notYet = /^(3F000|42P01|22023|28000)$/;

const sqlStateOf = (error: Error): string | undefined =>
  'severity' in error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** What a query that failed is for its caller: DatabaseAway or DatabaseBusy where it is unknown what Postgres would have answered. */
function faultOf(pool: Pool, error: unknown): unknown {
  if (error instanceof DatabaseAway || error instanceof DatabaseBusy) return error;
  const cause = error instanceof BurstError ? error.cause : error;
  const state = cause instanceof Error ? sqlStateOf(cause) : undefined;
  // What is no answer of Postgres's is a connection that could not be had, or was lost.
  if (state !== undefined && busy.test(state)) return new DatabaseBusy(cause);
  if (state === undefined || goingAway.test(state) || notYet.test(state)) return connectionFault(pool, cause);
  return cause;
}

interface Question {
  readonly text: string;
  readonly values: unknown[];
}

/** Runs a query. Throws DatabaseAway or DatabaseBusy where it is unknown what Postgres would have answered. */
export async function ask<Row extends object>(
  pool: Pool,
  query: Question & { readonly name: string },
): Promise<Row[]> {
  try {
    return (await pool.query<Row>(query)).rows;
  } catch (error) {
    throw faultOf(pool, error);
  }
}

const shared =
  (send: typeof sendRead) =>
  async <Row extends object>(pool: Pool, { text, values }: Question): Promise<Row[]> => {
    try {
      const [result] = await send(pool, [{ sql: text, parameters: values }]);
      return (result?.rows ?? []) as Row[];
    } catch (error) {
      throw faultOf(pool, error);
    }
  };

/** The same for what only reads and waits for no lock: over the few connections that such questions share. */
export const look = shared(sendRead);

/** The same for what changes one license and can be repeated: over the few connections that such changes share. */
export const changeOne = shared(sendShortWrite);
