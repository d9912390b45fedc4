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
const CachedValuesSchema = z.array(z.object({ value: z.string(), meaning: z.string() }));
export type CompletionValue = z.infer<typeof CachedValuesSchema>[number];

/** The age up to which a cached answer is used without a new call. */
const cacheFreshMillis = 20_000;
/** The age up to which a cached answer is used if the API does not answer. */
const maxCacheAgeMillis = 60 * 60_000;

const cacheFolder = (): string => path.join(envPaths('muster', { suffix: '' }).cache, 'completion');

async function readCachedValues(
  file: string,
): Promise<{ readonly values: CompletionValue[]; readonly age: number } | undefined> {
  try {
    const { mtimeMs } = await stat(file);
    return {
      values: CachedValuesSchema.parse(JSON.parse(await readFile(file, 'utf8'))),
      age: Date.now() - mtimeMs,
    };
  } catch {
    return undefined;
  }
}

/** Writes the file atomically, readable by its owner only, and deletes files that are too old. */
async function writeCachedValues(file: string, values: readonly CompletionValue[]): Promise<void> {
  await mkdir(cacheFolder(), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, JSON.stringify(values), { mode: 0o600 });
  await rename(unfinished, file);
  for (const name of await readdir(cacheFolder())) {
    const other = path.join(cacheFolder(), name);
    const { mtimeMs } = await stat(other);
    if (Date.now() - mtimeMs > maxCacheAgeMillis) await rm(other, { force: true });
  }
}

/** Returns the cached values, or fetches and caches them. Falls back to older values if the call fails. */
export async function fetchWithCache(
  key: readonly string[],
  fetchValues: () => Promise<CompletionValue[]>,
): Promise<CompletionValue[]> {
  const name = createHash('sha256').update(JSON.stringify(key)).digest('hex');
  const file = path.join(cacheFolder(), `${name}.json`);
  const before = await readCachedValues(file);
  if (before !== undefined && before.age < cacheFreshMillis) return before.values;
  try {
    const values = await fetchValues();
    await writeCachedValues(file, values).catch(() => undefined);
    return values;
  } catch (error) {
    if (before === undefined || before.age > maxCacheAgeMillis) throw error;
    return before.values;
  }
}

/** Deletes the cache at logout, because it contains titles that only the ended login could read. */
export const clearCompletionCache = (): Promise<void> => rm(cacheFolder(), { recursive: true, force: true });
