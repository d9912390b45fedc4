/**
 * Finds the SQL files of this library, next to the bundle if the code is bundled, otherwise in the library's
 * folder.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';

export function findSqlFolder(name: 'migrations' | 'functions'): string {
  const places = [path.join(import.meta.dirname, name), path.join(import.meta.dirname, '..', name)];
  for (const place of places) {
    try {
      readdirSync(place);
      return place;
    } catch {
      // Try the other folder.
    }
  }
  throw new Error(`the folder of ${name} is missing next to this program`);
}

/** Returns the names of SQL files without their extension, sorted. */
export const sqlFileNames = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => path.basename(file, '.sql'));

/** Reports which SQL file failed, with the error as its cause. */
export class SqlFileError extends Error {
  /** The failed file, such as "migration 0005_board". */
  readonly file: string;

  constructor(file: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.file = file;
  }

  static async naming(file: string, run: () => Promise<unknown>): Promise<void> {
    try {
      await run();
    } catch (error) {
      throw new SqlFileError(file, error);
    }
  }
}
