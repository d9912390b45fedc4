/** Brings a database to the newest schema: SQL files, forward only, all in one transaction under one lock. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';

/** Beside the bundle where the code is bundled, else the lib's own folder. */
const folder = [
  path.join(import.meta.dirname, 'migrations'),
  path.join(import.meta.dirname, '../migrations'),
];

function migrationFolder(): string {
  for (const candidate of folder) {
    try {
      readdirSync(candidate);
      return candidate;
    } catch {
      // the other place, then
    }
  }
  throw new Error('the folder of migrations is missing beside this program');
}

const namesIn = (place: string): string[] =>
  readdirSync(place)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => path.basename(file, '.sql'));

/** The names of all migrations, oldest first; of Muster's own unless a folder is named. */
export const migrationNames = (place: string = migrationFolder()): string[] => namesIn(place);

/** Migrations of somebody else than Muster's own database: a service with a schema for itself. */
export interface OwnMigrations {
  readonly folder: string;
  /** Where the notes about them lie; it is made where it is missing. */
  readonly schema: string;
}

/**
 * How long a migration waits for a table that somebody works on. Whoever comes after it waits behind it, so that it is
 * less than the two seconds which services wait for a lock; then it gives way, and is tried again.
 */
const lockTimeout = '1s';
const gaveWay = '55P03';
const triesAgainMillis = 500;
const triesAgainForMillis = 120_000;

/**
 * Applies what is missing and answers with its names. Safe to run from several places at once: Kysely's migrator
 * takes a lock. A database that a newer release has migrated is left as it is, so that one can go back to the release
 * before. `url` is a login that may create roles and tables.
 */
export async function migrate(url: string, own?: OwnMigrations): Promise<string[]> {
  const until = Date.now() + triesAgainForMillis;
  for (;;) {
    const { error, applied, failed } = await tryToMigrate(url, own);
    if (error === undefined) return applied;
    if (!(sqlStateOf(error) === gaveWay && Date.now() < until)) {
      const message = error instanceof Error ? error.message : JSON.stringify(error);
      throw new Error(
        failed === undefined
          ? `the database cannot be migrated: ${message}`
          : `migration ${failed} failed: ${message}`,
        { cause: error },
      );
    }
    await pause(triesAgainMillis);
  }
}

interface Outcome {
  /** All of them are in one transaction: where there is an error, none was applied. */
  readonly error: unknown;
  readonly applied: string[];
  readonly failed: string | undefined;
}

async function tryToMigrate(url: string, own: OwnMigrations | undefined): Promise<Outcome> {
  const place = own?.folder ?? migrationFolder();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const present = await appliedBefore(db, own?.schema ?? 'public');
    const known = namesIn(place);
    const newest = known.at(-1) ?? '';
    const ofNewerReleases = present.filter((name) => name > newest);
    const migrator = new Migrator({
      db,
      ...(own !== undefined && { migrationTableSchema: own.schema }),
      provider: {
        getMigrations: async () =>
          Object.fromEntries(
            [...known, ...ofNewerReleases].map((name) => [
              name,
              {
                up: async (transaction) => {
                  // Nobody works on a new database but others that migrate, for whom one waits as long as it takes.
                  if (present.length > 0)
                    await sql`set local lock_timeout = ${sql.lit(lockTimeout)}`.execute(transaction);
                  const text = readFileSync(path.join(place, `${name}.sql`), 'utf8');
                  await sql.raw(text).execute(transaction);
                },
              },
            ]),
          ),
      },
    });
    const { error, results } = await migrator.migrateToLatest();
    return {
      error,
      applied: (results ?? []).map((result) => result.migrationName),
      failed: results?.find((result) => result.status === 'Error')?.migrationName,
    };
  } catch (error) {
    return { error, applied: [], failed: undefined };
  } finally {
    await db.destroy();
  }
}

/** None where the database is new. */
async function appliedBefore(db: Kysely<unknown>, schema: string): Promise<string[]> {
  const notes = sql.id(schema, 'kysely_migration');
  const { rows: found } = await sql<{ isThere: boolean }>`
    select exists (select from pg_tables where schemaname = ${schema} and tablename = 'kysely_migration') as "isThere"`.execute(
    db,
  );
  if (found[0]?.isThere !== true) return [];
  const { rows } = await sql<{ name: string }>`select name from ${notes} order by name`.execute(db);
  return rows.map(({ name }) => name);
}

const sqlStateOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
