/** Brings a database to the newest schema: SQL files, forward only, all in one transaction under one lock. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
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
 * Applies what is missing and answers with its names. Safe to run from several places at once: Kysely's migrator
 * takes a lock. `url` is a login that may create roles and tables.
 */
export async function migrate(url: string, own?: OwnMigrations): Promise<string[]> {
  const place = own?.folder ?? migrationFolder();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const migrator = new Migrator({
      db,
      ...(own !== undefined && { migrationTableSchema: own.schema }),
      provider: {
        getMigrations: async () =>
          Object.fromEntries(
            namesIn(place).map((name) => [
              name,
              {
                up: async (transaction) => {
                  const text = readFileSync(path.join(place, `${name}.sql`), 'utf8');
                  await sql.raw(text).execute(transaction);
                },
              },
            ]),
          ),
      },
    });
    const { error, results } = await migrator.migrateToLatest();
    if (error !== undefined) {
      const failed = results?.find((result) => result.status === 'Error')?.migrationName;
      const message = error instanceof Error ? error.message : JSON.stringify(error);
      throw new Error(
        failed === undefined
          ? `the database cannot be migrated: ${message}`
          : `migration ${failed} failed: ${message}`,
        { cause: error },
      );
    }
    return (results ?? []).map((result) => result.migrationName);
  } finally {
    await db.destroy();
  }
}
