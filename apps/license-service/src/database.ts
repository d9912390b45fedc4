/** The service's own schema, and what an installation needs before its first license: secrets and a signing key. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { createPool, DatabaseAway, migrate, migrationNames, type Pool } from '@muster/database';
import { newSigningKey } from './signing/signing-key.ts';

/** Beside this file, and beside the bundle. */
const folder = path.join(import.meta.dirname, 'migrations');
const schema = 'licenses';

/** Any number that nobody else takes in this database. */
const provisionLock = 4_102;

export const migrateLicenses = (url: string): Promise<string[]> => migrate(url, { folder, schema });

/** Whether the newest migration is there. */
export async function isSchemaCurrent(pool: Pool): Promise<boolean> {
  const newest = migrationNames(folder).at(-1);
  const { rows } = await pool.query(`select from ${schema}.kysely_migration where name = $1`, [newest]);
  return rows.length === 1;
}

/** Secrets of the environment, where it has them. */
export interface GivenSecrets {
  readonly pepper: string | undefined;
  readonly pepperBefore: string | undefined;
  readonly seal: string | undefined;
}

export interface Secrets {
  readonly pepper: string | Buffer;
  readonly pepperBefore: string | Buffer | null;
  /** The first seals, all open. */
  readonly seals: readonly [string | Buffer, ...(string | Buffer)[]];
}

/**
 * What the environment says; where it says nothing the secret of the database, which is also the one before as soon as
 * the environment says something.
 */
export async function loadSecrets(pool: Pool, given: GivenSecrets): Promise<Secrets> {
  const { rows } = await pool.query<{ name: string; value: Buffer }>(
    'select name, value from licenses.secrets',
  );
  const own = (name: string): Buffer => {
    const row = rows.find((one) => one.name === name);
    if (row === undefined) throw new Error(`the secret ${name} is not in the database yet`);
    return row.value;
  };
  const { pepper, pepperBefore, seal } = given;
  return {
    pepper: pepper ?? own('pepper'),
    pepperBefore: pepperBefore ?? (pepper === undefined ? null : own('pepper')),
    seals: seal === undefined ? [own('seal')] : [seal, own('seal')],
  };
}

/**
 * Brings a database to where the service can work. Safe to run again, and from several places at once. `url` is a
 * login that may create roles and schemas.
 */
export async function provision(url: string, given: GivenSecrets): Promise<string[]> {
  const applied = await migrateLicenses(url);
  const pool = createPool({ url, role: null, max: 1, name: 'license-service-provision' });
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [provisionLock]);
    await client.query(
      `insert into licenses.secrets (name, value) values ('pepper', $1), ('seal', $2) on conflict do nothing`,
      [randomBytes(32), randomBytes(32)],
    );
    const { rows } = await client.query('select from licenses.signing_keys limit 1');
    if (rows.length === 0) {
      const { rows: secrets } = await client.query<{ value: Buffer }>(
        `select value from licenses.secrets where name = 'seal'`,
      );
      const seal = given.seal ?? secrets[0]?.value;
      if (seal === undefined) throw new Error('the secret seal is missing');
      const { kid, publicKey, sealedKey } = newSigningKey(seal);
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

/** States of Postgres in which the same call can succeed later: going away, full, or too slow at the moment. */
const passing = /^(08|57P|53|25P)|^(40001|40P01|55P03|57014)$/;
/** No schema or no role yet: somebody is about to make them. */
const notYet = /^(3F000|42P01|22023|28000)$/;

const sqlStateOf = (error: Error): string | undefined =>
  'severity' in error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** Runs a query. Throws DatabaseAway where nobody can say what it would have answered. */
export async function ask<Row extends object>(
  pool: Pool,
  query: { readonly name: string; readonly text: string; readonly values: unknown[] },
): Promise<Row[]> {
  try {
    return (await pool.query<Row>(query)).rows;
  } catch (error) {
    const state = error instanceof Error ? sqlStateOf(error) : undefined;
    // What is no answer of Postgres's is a connection that could not be had, or was lost.
    if (state === undefined || passing.test(state) || notYet.test(state)) throw new DatabaseAway(error);
    throw error;
  }
}
