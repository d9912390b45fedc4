import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** What a file says that may not be there. */
export async function readJson(file: string): Promise<unknown> {
  return existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : undefined;
}
