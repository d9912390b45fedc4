/**
 * Migrates a database to the newest schema. SQL files run forward only, followed by the functions. Everything
 * is one transaction, except for migrations that cannot run inside one.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { applyFunctions } from './function-files.ts';
import { describeServerFault } from './server-version.ts';
import { SqlFileError, findSqlFolder, sqlFileNames } from './sql-files.ts';

const musterMigrationsFolder = (): string => findSqlFolder('migrations');

/** Returns the names of all migrations, oldest first. By default these are Muster's own. */
export const migrationNames = (folder: string = musterMigrationsFolder()): string[] => sqlFileNames(folder);

/**
 * Migrations of a service with a schema of its own, outside of Muster's database and without function files.
 */
export interface ServiceMigrations {
  readonly folder: string;
  /** The schema of the records about applied migrations. It is created if missing. */
  readonly schema: string;
}

/**
 * The time that a migration waits for a table lock. Later transactions queue behind the migration, so the
 * time is shorter than the two seconds that services wait for a lock. After it the migration rolls back and
 * is attempted again.
 */
const lockTimeout = '1s';
const lockTimeoutSqlState = '55P03';
const lockRetryDelayMillis = 500;
const maxLockRetryMillis = 120_000;

/**
 * The timeout for a server that accepts the connection and does not respond, in milliseconds. Statements that
 * run have no time limit.
 */
const responseTimeoutMillis = 5_000;

/** The key of the advisory lock: an arbitrary number that no other program locks in this database. */
const migratorLockKey = 4_101;
const lockPollIntervalMillis = 100;

/**
 * Applies the missing migrations and returns their names. Concurrent calls are safe: one applies the
 * migrations, the others wait and find nothing to do. A database that a newer release has migrated is left
 * unchanged, including its functions, so that the previous release can be run again. `url` is a login that
 * may create roles and tables.
 */
export async function migrate(url: string, serviceMigrations?: ServiceMigrations): Promise<string[]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: responseTimeoutMillis,
    keepAlive: true,
  });
  // A lost connection fails the statement that waits for it.
  client.on('error', () => undefined);
  const until = Date.now() + maxLockRetryMillis;
  const applied: string[] = [];
  try {
    await client.connect();
    const fault = await describeServerFault(client);
    if (fault !== undefined) throw new Error(fault);
    await takeMigratorLock(client);
    for (;;) {
      try {
        await applyMissingMigrations(client, serviceMigrations, applied);
        return applied;
      } catch (error) {
        if (!(sqlStateOf(error) === lockTimeoutSqlState && Date.now() < until)) throw error;
      }
      await pause(lockRetryDelayMillis);
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : JSON.stringify(error);
    const what = error instanceof SqlFileError ? `${error.file} failed` : 'the database cannot be migrated';
    throw new Error(`${what}: ${message}`, { cause: error });
  } finally {
    await client.end();
  }
}

/**
 * Polls for the advisory lock instead of waiting inside a statement. Building an index concurrently waits for
 * all older statements, and a waiting statement would block it forever. The lock ends with the connection.
 */
async function takeMigratorLock(client: pg.Client): Promise<void> {
  for (;;) {
    const timedQuery: pg.QueryConfig & { query_timeout: number } = {
      text: 'select pg_try_advisory_lock($1) as taken',
      values: [migratorLockKey],
      query_timeout: responseTimeoutMillis,
    };
    const { rows } = await client.query<{ taken: boolean }>(timedQuery);
    if (rows[0]?.taken === true) return;
    await pause(lockPollIntervalMillis);
  }
}

interface Migration {
  readonly name: string;
  readonly text: string;
}

async function applyMissingMigrations(
  client: pg.Client,
  serviceMigrations: ServiceMigrations | undefined,
  applied: string[],
): Promise<void> {
  const folder = serviceMigrations?.folder ?? musterMigrationsFolder();
  const books = await openMigrationLog(client, serviceMigrations?.schema ?? 'app');
  const missing = findMissingMigrations(sqlFileNames(folder), books.appliedNames).map((name) => ({
    name,
    text: readFileSync(path.join(folder, `${name}.sql`), 'utf8'),
  }));
  // True if services may be using the database. No service uses one without any applied migration.
  const isAtWork = books.appliedNames.length > 0;
  const steps = groupIntoSteps(missing);
  for (const [nth, step] of steps.entries()) {
    if ('alone' in step) {
      await runStatementByStatement(client, step.alone);
      await books.recordApplied(step.alone.name);
      applied.push(step.alone.name);
      continue;
    }
    await inTransaction(client, async () => {
      if (isAtWork) await client.query(`set local lock_timeout = '${lockTimeout}'`);
      for (const { name, text } of step.together) {
        await SqlFileError.naming(`migration ${name}`, () => client.query(text));
        await books.recordApplied(name);
      }
      if (serviceMigrations === undefined && nth === steps.length - 1) await applyFunctions(client);
    });
    applied.push(...step.together.map(({ name }) => name));
  }
}

type MigrationStep = { readonly together: Migration[] } | { readonly alone: Migration };

/**
 * Groups consecutive migrations into one transaction. The last step is always a transaction, which also
 * contains the functions.
 */
function groupIntoSteps(missing: readonly Migration[]): MigrationStep[] {
  const steps: MigrationStep[] = [];
  for (const migration of missing) {
    const last = steps.at(-1);
    if (runsOutsideTransaction(migration.text)) steps.push({ alone: migration });
    else if (last !== undefined && 'together' in last) last.together.push(migration);
    else steps.push({ together: [migration] });
  }
  const last = steps.at(-1);
  if (last === undefined || 'alone' in last) steps.push({ together: [] });
  return steps;
}

/**
 * Returns true if the first line marks the migration as one that cannot run inside a transaction, because it
 * builds an index concurrently.
 */
const runsOutsideTransaction = (text: string): boolean => text.startsWith('-- outside a transaction: ');

/** Splits such a migration into statements. Each statement ends its line. */
export const splitStatements = (text: string): string[] =>
  text.split(/;[ \t]*$/m).filter((statement) => statement.replaceAll(/^--.*$/gm, '').trim() !== '');

/**
 * Runs the statements one by one; each takes effect immediately. The migration is recorded after the last
 * one. If it is interrupted, it runs again from the start, so it must first drop what an earlier run may have
 * left half done.
 */
async function runStatementByStatement(client: pg.Client, { name, text }: Migration): Promise<void> {
  for (const statement of splitStatements(text))
    await SqlFileError.naming(`migration ${name}`, () => client.query(statement));
}

async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  try {
    await work();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

interface MigrationLog {
  /** The applied migrations, oldest first; empty for a new database. */
  readonly appliedNames: readonly string[];
  readonly recordApplied: (name: string) => Promise<unknown>;
}

async function openMigrationLog(client: pg.Client, schema: string): Promise<MigrationLog> {
  const place = pg.escapeIdentifier(schema);
  const { rows: found } = await client.query(
    `select from pg_tables where schemaname = $1 and tablename = 'applied_migrations'`,
    [schema],
  );
  if (found.length === 0)
    await client.query(`
      create schema if not exists ${place};
      create table ${place}.applied_migrations (name text primary key, applied_at timestamptz(3) not null default now())`);
  const { rows } = await client.query<{ name: string }>(
    `select name from ${place}.applied_migrations order by name collate "C"`,
  );
  return {
    appliedNames: rows.map(({ name }) => name),
    recordApplied: (name) =>
      client.query(`insert into ${place}.applied_migrations (name) values ($1)`, [name]),
  };
}

/**
 * Returns the migrations to apply. Migrations are only ever added at the end. The applied ones are therefore
 * the beginning of this release's list, or, after a newer release, continue beyond it. Anything else is an
 * incompatible schema, such as one from before the first release.
 */
function findMissingMigrations(releaseNames: readonly string[], appliedNames: readonly string[]): string[] {
  const [other] = appliedNames.flatMap((name, nth) => {
    const ours = releaseNames[nth];
    return ours === undefined || ours === name ? [] : [`${name} where this release has ${ours}`];
  });
  if (other === undefined) return releaseNames.slice(appliedNames.length);
  throw new Error(
    `it has the schema of another Muster version (migration ${other}), and it cannot be upgraded from there. ` +
      'Nothing was changed. Start with an empty database (with `npm start`: move the folder .data away); ' +
      'use pg_dump to save the data of this one.',
  );
}

const sqlStateOf = (error: unknown): string | undefined => {
  const cause = error instanceof SqlFileError ? error.cause : error;
  return cause instanceof pg.DatabaseError ? cause.code : undefined;
};
