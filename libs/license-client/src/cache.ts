/** What the machine keeps between starts: one file that only its owner reads, replaced as a whole. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type TimeSeen } from './clock.ts';
import { type PublicKey, publicKeysIn } from './public-key.ts';
import { isSystemError } from './system-error.ts';

export interface Kept {
  readonly licenseKey: string;
  /** Null after a refusal: from then on the machine may not run before the server has said so. */
  readonly certificate: string | null;
  /** Whether the slot is lent: then the machine may take one again without being asked to. */
  readonly isLent: boolean;
  /** Keys that were fetched; none where they are pinned. */
  readonly publicKeys: readonly PublicKey[];
  readonly time: TimeSeen;
}

const fileIn = (folder: string): string => path.join(folder, 'license.json');

function keptIn(text: string): Kept | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { licenseKey, certificate, isLent, publicKeys, time } = value as Partial<Record<keyof Kept, unknown>>;
  const { aheadMillis, latestMillis } = (time ?? {}) as Partial<Record<keyof TimeSeen, unknown>>;
  if (typeof licenseKey !== 'string' || typeof aheadMillis !== 'number' || typeof latestMillis !== 'number') {
    return undefined;
  }
  return {
    licenseKey,
    certificate: typeof certificate === 'string' ? certificate : null,
    isLent: isLent === true,
    publicKeys: publicKeysIn(publicKeys),
    time: { aheadMillis, latestMillis },
  };
}

/** Undefined where nothing was kept, or what was kept is damaged: then the license is activated anew. */
export async function readKept(folder: string): Promise<Kept | undefined> {
  try {
    return keptIn(await readFile(fileIn(folder), 'utf8'));
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * When it was last written, by the clock of then: as the file and its folder say, the latest of them, since a file can be
 * given another time. 0 where there is none.
 */
export async function writtenAt(folder: string): Promise<number> {
  const times = await Promise.all([stat(fileIn(folder)), stat(folder)]).catch(() => []);
  return Math.max(0, ...times.flatMap(({ mtimeMs, ctimeMs }) => [mtimeMs, ctimeMs]));
}

/** Whoever is killed while writing leaves the file as it was. */
export async function keep(folder: string, kept: Kept): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const next = `${fileIn(folder)}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    const handle = await open(next, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(kept, null, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(next, fileIn(folder));
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

export const forget = (folder: string): Promise<void> => rm(fileIn(folder), { force: true });
