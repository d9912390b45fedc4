/**
 * Brings a database to the newest schema: SQL files, forward only, and after them the functions. All of it is one
 * transaction, but for migrations that cannot be in one.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { applyFunctions } from './function-files.ts';
import { faultOfServer } from './server-version.ts';
import { FileFailed, folderBeside, namesIn } from './sql-files.ts';

const ownFolder = (): string => folderBeside('migrations');

/** The names of all migrations, oldest first; of Muster's own unless a folder is named. */
export const migrationNames = (place: string = ownFolder()): string[] => namesIn(place);

/** Migrations that are not of Muster's own database: of a service with a schema for itself, and no function files. */
export interface OwnMigrations {
  readonly folder: string;
  /** Where the notes about them lie; it is made where it is missing. */
  readonly schema: string;
}

/**
 * How long a migration waits for a table that a transaction works on. Later transactions wait behind the migration, so it
 * is less than the two seconds which services wait for a lock; then it gives way, and is tried again.
 */
const lockTimeout = '1s';
const gaveWay = '55P03';
const triesAgainMillis = 500;
const triesAgainForMillis = 120_000;

/** A server that takes the connection and says nothing is given up on; what it works at may take as long as it takes. */
const answersWithinMillis = 5_000;

/** Any number that no other program locks in this database. */
const migratorLock = 4_101;
const looksAgainMillis = 100;

/**
 * Applies what is missing and answers with its names. Safe to run from several places at once: one does it, the others
 * wait and find it done. A database that a newer release has migrated is left as it is, functions too, so that one can
 * go back to the release before. `url` is a login that may create roles and tables.
 */
export async function migrate(url: string, own?: OwnMigrations): Promise<string[]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: answersWithinMillis,
    keepAlive: true,
  });
  // A connection that is lost fails the statement that waits for it.
  client.on('error', () => undefined);
  const until = Date.now() + triesAgainForMillis;
  const applied: string[] = [];
  try {
    await client.connect();
    const fault = await faultOfServer(client);
    if (fault !== undefined) throw new Error(fault);
    await takeLock(client);
    for (;;) {
      try {
        await applyMissing(client, own, applied);
        return applied;
      } catch (error) {
        if (!(sqlStateOf(error) === gaveWay && Date.now() < until)) throw error;
      }
      await pause(triesAgainMillis);
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : JSON.stringify(error);
    const what = error instanceof FileFailed ? `${error.file} failed` : 'the database cannot be migrated';
    throw new Error(`${what}: ${message}`, { cause: error });
  } finally {
    await client.end();
  }
}

/**
 * Asks again and again, and never waits inside a statement: what builds an index beside others' work waits until every
 * statement that was there before it is over. The lock ends with the connection.
 */
async function takeLock(client: pg.Client): Promise<void> {
  for (;;) {
    const ask: pg.QueryConfig & { query_timeout: number } = {
      text: 'select pg_try_advisory_lock($1) as taken',
      values: [migratorLock],
      query_timeout: answersWithinMillis,
    };
    const { rows } = await client.query<{ taken: boolean }>(ask);
    if (rows[0]?.taken === true) return;
    await pause(looksAgainMillis);
  }
}

interface Migration {
  readonly name: string;
  readonly text: string;
}

async function applyMissing(
  client: pg.Client,
  own: OwnMigrations | undefined,
  applied: string[],
): Promise<void> {
  const folder = own?.folder ?? ownFolder();
  const books = await openBooks(client, own?.schema ?? 'app');
  const missing = missingOf(namesIn(folder), books.present).map((name) => ({
    name,
    text: readFileSync(path.join(folder, `${name}.sql`), 'utf8'),
  }));
  // No service works on a new database.
  const isAtWork = books.present.length > 0;
  const steps = stepsOf(missing);
  for (const [nth, step] of steps.entries()) {
    if ('alone' in step) {
      await runAlone(client, step.alone);
      await books.note(step.alone.name);
      applied.push(step.alone.name);
      continue;
    }
    await inTransaction(client, async () => {
      if (isAtWork) await client.query(`set local lock_timeout = '${lockTimeout}'`);
      for (const { name, text } of step.together) {
        await FileFailed.naming(`migration ${name}`, () => client.query(text));
        await books.note(name);
      }
      if (own === undefined && nth === steps.length - 1) await applyFunctions(client);
    });
    applied.push(...step.together.map(({ name }) => name));
  }
}

type Step = { readonly together: Migration[] } | { readonly alone: Migration };

/** What is in one transaction is together. The last step is one, with the functions in it. */
function stepsOf(missing: readonly Migration[]): Step[] {
  const steps: Step[] = [];
  for (const migration of missing) {
    const last = steps.at(-1);
    if (isOutsideTransaction(migration.text)) steps.push({ alone: migration });
    else if (last !== undefined && 'together' in last) last.together.push(migration);
    else steps.push({ together: [migration] });
  }
  const last = steps.at(-1);
  if (last === undefined || 'alone' in last) steps.push({ together: [] });
  return steps;
}

/** Said by the first line of a migration which cannot be in a transaction: it builds an index beside others' work. */
const isOutsideTransaction = (text: string): boolean => text.startsWith('-- outside a transaction: ');

/** The statements of such a migration: each ends its line. */
export const statementsAlone = (text: string): string[] =>
  text.split(/;[ \t]*$/m).filter((statement) => statement.replaceAll(/^--.*$/gm, '').trim() !== '');

/**
 * One statement after the other, each with what it did already done. It is noted after the last; stopped before, it runs
 * again from the first. So it takes away first what a run before it may have left half made.
 */
async function runAlone(client: pg.Client, { name, text }: Migration): Promise<void> {
  for (const statement of statementsAlone(text))
    await FileFailed.naming(`migration ${name}`, () => client.query(statement));
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

interface Books {
  /** What is applied, oldest first; none where the database is new. */
  readonly present: readonly string[];
  readonly note: (name: string) => Promise<unknown>;
}

async function openBooks(client: pg.Client, schema: string): Promise<Books> {
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
    present: rows.map(({ name }) => name),
    note: (name) => client.query(`insert into ${place}.applied_migrations (name) values ($1)`, [name]),
  };
}

/**
 * What is to be applied. Migrations are only ever added at the end: what is present is the beginning of what this release
 * knows, or, from a newer release, goes on after it. Anything else is the schema of another Muster, such as one from
 * before the first release.
 */
function missingOf(known: readonly string[], present: readonly string[]): string[] {
  const [other] = present.flatMap((name, nth) => {
    const ours = known[nth];
    return ours === undefined || ours === name ? [] : [`${name} where this release has ${ours}`];
  });
  if (other === undefined) return known.slice(present.length);
  throw new Error(
    `it has the schema of another Muster, the migration ${other}, and no upgrade leads from there. ` +
      'Nothing was changed. Start with an empty database (with `npm start`: move the folder .data away); ' +
      'a dump (pg_dump) keeps what is in this one.',
  );
}

const sqlStateOf = (error: unknown): string | undefined => {
  const cause = error instanceof FileFailed ? error.cause : error;
  return cause instanceof pg.DatabaseError ? cause.code : undefined;
};
