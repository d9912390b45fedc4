/** Provisions the database of the service: its schema, its secrets and its first signing key. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import {
  queryOutsideOrg as askOnce,
  BurstError,
  cliConnectTimeoutMillis,
  classifyConnectionError,
  createPool,
  DatabaseBusy,
  type Db,
  inTransaction,
  type Pool,
  type Query,
  sendRead,
  sendShortWrite,
  sql,
} from '@muster/driver';
import { migrate, migrationNames } from '@muster/migrations';
import { advisoryLockIds } from './operators/locks.ts';
import { sealNameOfEndpoint } from './operators/webhooks.ts';
import { seal, unseal } from './signing/seal.ts';
import { generateSigningKey } from './signing/signing-key.ts';

/** The migrations folder, next to this file and next to the bundle. */
const migrationsFolder = path.join(import.meta.dirname, 'migrations');
const schemaName = 'licenses';

export const migrateLicenses = (url: string): Promise<string[]> =>
  migrate(url, { folder: migrationsFolder, schema: schemaName });

/** Returns true if the newest migration is applied. */
export async function isSchemaCurrent(pool: Pool): Promise<boolean> {
  const newest = migrationNames(migrationsFolder).at(-1);
  const rows = await askOnce(pool, sql`select from licenses.applied_migrations where name = ${newest}`);
  return rows.length === 1;
}

/** The secrets from the environment. */
export interface EnvironmentSecrets {
  readonly pepper: string | undefined;
  readonly pepperBefore: string | undefined;
  readonly seal: string | undefined;
}

export interface Secrets {
  readonly pepper: string | Buffer;
  readonly pepperBefore: string | Buffer | null;
  /** The sealing secrets. The first one seals; all of them open. The list is empty if neither source has one. */
  readonly seals: readonly (string | Buffer)[];
}

/**
 * Loads the secrets. Those of the environment take precedence over those of the database. A pepper of the database stays
 * accepted as the previous one if the environment sets only the current one.
 */
export async function loadSecrets(pool: Pool, environmentSecrets: EnvironmentSecrets): Promise<Secrets> {
  const rows = await askOnce(
    pool,
    sql<{ name: string; value: Buffer }>`select name, value from licenses.secrets`,
  );
  const found = (name: string): Buffer | undefined => rows.find((one) => one.name === name)?.value;
  const ownPepper = (): Buffer => {
    const value = found('pepper');
    if (value === undefined) throw new Error('the secret pepper is not in the database yet');
    return value;
  };
  const { pepper, pepperBefore } = environmentSecrets;
  return {
    pepper: pepper ?? ownPepper(),
    pepperBefore: pepperBefore ?? (pepper === undefined ? null : ownPepper()),
    seals: [environmentSecrets.seal, found('seal')].filter((one) => one !== undefined),
  };
}

/** Returns the secret of this name in the database, and creates it if it is missing. */
async function getOrCreateSecret(db: Db, name: 'pepper' | 'seal'): Promise<Buffer> {
  await db.all(
    sql`insert into licenses.secrets (name, value) values (${name}, ${randomBytes(32)}) on conflict do nothing`,
  );
  const { value } = await db.one(
    sql<{ value: Buffer }>`select value from licenses.secrets where name = ${name}`,
  );
  return value;
}

/** The columns that contain sealed texts. `nameOf` returns the name under which the text of a row was sealed. */
const sealedColumns = [
  { table: sql`licenses.signing_keys`, id: sql`kid`, column: sql`sealed_key`, nameOf: (id: string) => id },
  ...[sql`sealed_secret`, sql`sealed_secret_before`].map((column) => ({
    ...{ table: sql`licenses.webhook_endpoints`, id: sql`id`, column, nameOf: sealNameOfEndpoint },
  })),
];

/** Reseals everything with the environment's secret and deletes the one in the database, which lies next to the data. */
async function resealWithEnvironmentSecret(db: Db, environmentSeal: string): Promise<void> {
  const before = await db.find(
    sql<{ value: Buffer }>`delete from licenses.secrets where name = 'seal' returning value`,
  );
  if (before === undefined) return;
  for (const { table, id, column, nameOf } of sealedColumns) {
    const rows = await db.all(
      sql<{ id: string; bytes: Buffer }>`select ${id}::text as id, ${column} as bytes from ${table}
        where ${column} is not null for update`,
    );
    for (const row of rows) {
      const name = nameOf(row.id);
      const plain = unseal(before.value, name, row.bytes);
      if (plain === undefined) continue;
      await db.all(
        sql`update ${table} set ${column} = ${seal(environmentSeal, name, plain)} where ${id}::text = ${row.id}`,
      );
    }
  }
}

/** Returns true if the login of the pool may migrate: it owns the tables or may create the schema. */
export async function mayProvision(pool: Pool): Promise<boolean> {
  const [row] = await askOnce(
    pool,
    sql<{ may: boolean }>`select case
        when c.oid is null then has_database_privilege(session_user, current_database(), 'create')
        else pg_has_role(session_user, c.relowner, 'usage') end as may
      from (select to_regclass('licenses.applied_migrations') as oid) n left join pg_class c on c.oid = n.oid`,
  );
  return row?.may === true;
}

/**
 * Migrates the schema and creates missing secrets and the first signing key. Returns the applied migrations. The function
 * is idempotent, also under concurrent calls. `url` is a login that may create roles and schemas.
 */
export async function provision(url: string, environmentSecrets: EnvironmentSecrets): Promise<string[]> {
  const applied = await migrateLicenses(url);
  const pool = createPool({
    url,
    role: null,
    max: 1,
    name: 'license-service-provision',
    connectTimeoutMillis: cliConnectTimeoutMillis,
  });
  try {
    await inTransaction(pool, { prologue: [], orgId: null }, async (db) => {
      await db.all(sql`select pg_advisory_xact_lock(${advisoryLockIds.provision})`);
      await getOrCreateSecret(db, 'pepper');
      const secret = environmentSecrets.seal ?? (await getOrCreateSecret(db, 'seal'));
      if (environmentSecrets.seal !== undefined)
        await resealWithEnvironmentSecret(db, environmentSecrets.seal);
      if ((await db.find(sql`select from licenses.signing_keys limit 1`)) !== undefined) return;
      const { kid, publicKey, sealedKey } = generateSigningKey(secret);
      await db.all(
        sql`insert into licenses.signing_keys (kid, public_key, sealed_key, active_from)
          values (${kid}, ${publicKey}, ${sealedKey}, clock_timestamp())`,
      );
    });
  } finally {
    await pool.end();
  }
  return applied;
}

/** SQLSTATEs after which a call can succeed later: Postgres shuts down, or is full or too slow at the moment. */
const shutdownSqlState = /^(08|57P|25P)/;
const busySqlState = /^53|^(40001|40P01|55P03|57014)$/;
/** SQLSTATEs of a missing schema or role, which another process is about to create. */
const notProvisionedSqlState = /^(3F000|42P01|22023|28000)$/;

/** The error for the caller of a failed query: DatabaseAway or DatabaseBusy if Postgres may answer later. */
function databaseFaultOf(pool: Pool, error: unknown): unknown {
  if (!(error instanceof BurstError)) return error;
  const { cause, sqlState } = error;
  if (sqlState === undefined || shutdownSqlState.test(sqlState) || notProvisionedSqlState.test(sqlState))
    return classifyConnectionError(pool, cause);
  return busySqlState.test(sqlState) ? new DatabaseBusy(cause) : cause;
}

/** Runs a query. Throws DatabaseAway or DatabaseBusy if Postgres may answer later. */
export async function runQuery<Row>(pool: Pool, query: Query<Row>): Promise<Row[]> {
  try {
    return await askOnce(pool, query);
  } catch (error) {
    throw databaseFaultOf(pool, error);
  }
}

interface QueryText {
  readonly text: string;
  readonly values: unknown[];
}

const runOnSharedConnection =
  (sendQuery: typeof sendRead) =>
  async <Row extends object>(pool: Pool, { text, values }: QueryText): Promise<Row[]> => {
    try {
      const [result] = await sendQuery(pool, [{ sql: text, parameters: values }]);
      return (result?.rows ?? []) as Row[];
    } catch (error) {
      throw databaseFaultOf(pool, error);
    }
  };

/**
 * Runs a query like `ask`, over a few connections that such queries share. The query must be a read that
 * takes no lock.
 */
export const runSharedRead = runOnSharedConnection(sendRead);

/**
 * Runs a query like `ask`, over a few connections that such queries share. The query must change one license
 * and be repeatable.
 */
export const runSharedWrite = runOnSharedConnection(sendShortWrite);
