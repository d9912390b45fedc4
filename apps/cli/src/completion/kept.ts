/**
 * Caches what completion fetched from the API, so that repeated key presses on one line do not fetch it
 * again.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import envPaths from 'env-paths';
import { z } from 'zod';

/** A value that may be typed, with its description. */
const Values = z.array(z.object({ value: z.string(), meaning: z.string() }));
export type Value = z.infer<typeof Values>[number];

/** The age up to which a cached answer is used without a new call. */
const freshMillis = 20_000;
/** The age up to which a cached answer is used if the API does not answer. */
const usableMillis = 60 * 60_000;

const folder = (): string => path.join(envPaths('muster', { suffix: '' }).cache, 'completion');

async function read(file: string): Promise<{ readonly values: Value[]; readonly age: number } | undefined> {
  try {
    const { mtimeMs } = await stat(file);
    return { values: Values.parse(JSON.parse(await readFile(file, 'utf8'))), age: Date.now() - mtimeMs };
  } catch {
    return undefined;
  }
}

/** Writes the file atomically, readable by its owner only, and deletes files that are too old. */
async function write(file: string, values: readonly Value[]): Promise<void> {
  await mkdir(folder(), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, JSON.stringify(values), { mode: 0o600 });
  await rename(unfinished, file);
  for (const name of await readdir(folder())) {
    const other = path.join(folder(), name);
    const { mtimeMs } = await stat(other);
    if (Date.now() - mtimeMs > usableMillis) await rm(other, { force: true });
  }
}

/** Returns the cached values, or fetches and caches them. Falls back to older values if the call fails. */
export async function kept(key: readonly string[], ask: () => Promise<Value[]>): Promise<Value[]> {
  const name = createHash('sha256').update(JSON.stringify(key)).digest('hex');
  const file = path.join(folder(), `${name}.json`);
  const before = await read(file);
  if (before !== undefined && before.age < freshMillis) return before.values;
  try {
    const values = await ask();
    await write(file, values).catch(() => undefined);
    return values;
  } catch (error) {
    if (before === undefined || before.age > usableMillis) throw error;
    return before.values;
  }
}

/** Deletes the cache at logout, because it contains titles that only the ended login could read. */
export const forgetKept = (): Promise<void> => rm(folder(), { recursive: true, force: true });
