/** The SQL files of this lib: beside the bundle where the code is bundled, else in the lib's own folder. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

export function folderBeside(name: 'migrations' | 'functions'): string {
  const places = [path.join(import.meta.dirname, name), path.join(import.meta.dirname, '..', name)];
  for (const place of places) {
    try {
      readdirSync(place);
      return place;
    } catch {
      // the other place, then
    }
  }
  throw new Error(`the folder of ${name} is missing beside this program`);
}

/** Without their endings, in order. */
export const namesIn = (place: string): string[] =>
  readdirSync(place)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => path.basename(file, '.sql'));

/** What went wrong in one of them. */
export class FileFailed extends Error {
  /** Such as "migration 0005_board". */
  readonly file: string;

  constructor(file: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.file = file;
  }

  static async naming(file: string, run: () => Promise<unknown>): Promise<void> {
    try {
      await run();
    } catch (error) {
      throw new FileFailed(file, error);
    }
  }
}
