import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** Parses a file, or returns undefined if it does not exist. */
export async function readJson(file: string): Promise<unknown> {
  return existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : undefined;
}
