/**
 * Installs the functions of the database and the triggers that call them. They are SQL files, one per topic,
 * each in its current form. A file runs again whenever its text differs from the text that ran last, so it
 * must use `create or replace`.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { productVersion } from '@muster/contract';
import { type Client, type Pool } from 'pg';
import { SqlFileError, findSqlFolder, sqlFileNames } from './sql-files.ts';

export interface FunctionFile {
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
}

interface AppliedFile {
  readonly name: string;
  readonly sha256: string;
  readonly release: string;
}

/** Returns the function files of this release. */
export function readFunctionFiles(): FunctionFile[] {
  const folder = findSqlFolder('functions');
  return sqlFileNames(folder).map((name) => {
    const text = readFileSync(path.join(folder, `${name}.sql`), 'utf8');
    return { name, text, sha256: createHash('sha256').update(text).digest('hex') };
  });
}

/** Returns true if the second release is newer than the first. */
const isNewer = (baseline: string, release: string): boolean =>
  baseline.localeCompare(release, 'en', { numeric: true }) < 0;

/**
 * Returns the files to run, which have changed or never ran. Returns none if a newer release has already
 * migrated the database.
 */
export function findOutdatedFunctions(
  files: readonly FunctionFile[],
  applied: readonly AppliedFile[],
  release: string,
): FunctionFile[] {
  if (applied.some((file) => isNewer(release, file.release))) return [];
  const known = new Map(applied.map(({ name, sha256 }) => [name, sha256]));
  return files.filter(({ name, sha256 }) => known.get(name) !== sha256);
}

/** Runs the outdated files and records them, in the caller's transaction. */
export async function applyFunctions(
  client: Client,
  files: readonly FunctionFile[] = readFunctionFiles(),
  release: string = productVersion,
): Promise<void> {
  const { rows } = await client.query<AppliedFile>('select name, sha256, release from app.function_files');
  const changed = findOutdatedFunctions(files, rows, release);
  if (changed.length === 0) return;
  // Files may call functions of one another, in any order.
  await client.query('set local check_function_bodies = off');
  for (const { name, text, sha256 } of changed) {
    await SqlFileError.naming(`functions/${name}.sql`, () => client.query(text));
    await client.query(
      `insert into app.function_files (name, sha256, release) values ($1, $2, $3)
       on conflict (name) do update set sha256 = excluded.sha256, release = excluded.release, applied_at = now()`,
      [name, sha256, release],
    );
  }
  // Records that the unchanged files belong to this release, too.
  await client.query('update app.function_files set release = $1 where release <> $1', [release]);
}

/** The newest migration, the function files and the version of this release. They are read once. */
let expectedSchema:
  | { newestMigration: string | undefined; files: FunctionFile[]; release: string }
  | undefined;

/**
 * Returns true if the schema is that of this release or newer. The pool's role has the privilege to read
 * this.
 */
export async function isSchemaCurrent(pool: Pool): Promise<boolean> {
  const {
    newestMigration: newest,
    files,
    release,
  } = (expectedSchema ??= {
    newestMigration: sqlFileNames(findSqlFolder('migrations')).at(-1),
    files: readFunctionFiles(),
    release: productVersion,
  });
  const { rows: there } = await pool.query('select from app.applied_migrations where name = $1', [newest]);
  if (there.length === 0) return false;
  const { rows } = await pool.query<AppliedFile>('select name, sha256, release from app.function_files');
  return findOutdatedFunctions(files, rows, release).length === 0;
}
