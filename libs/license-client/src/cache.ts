/**
 * The state that the machine stores between starts: one file that only its owner can read, replaced
 * atomically.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type ClockState } from './clock.ts';
import { type PublicKey, parsePublicKeys } from './public-key.ts';
import { isSystemError } from './system-error.ts';

export interface CachedLicense {
  /** The license key. Null for a trial, which has no key. */
  readonly licenseKey: string | null;
  /** The certificate. Null after a refusal; the program may then not run until the service allows it. */
  readonly certificate: string | null;
  /** True if the slot is leased. In that case the machine may take a slot again without a new request by a person. */
  readonly isLent: boolean;
  /** The keys that were fetched from the service. Empty if the keys are pinned. */
  readonly publicKeys: readonly PublicKey[];
  readonly time: ClockState;
}

const licenseFileIn = (folder: string): string => path.join(folder, 'license.json');
const requestFileIn = (folder: string): string => path.join(folder, 'request.json');

/** A request by a file that people carry, because this machine never comes online. */
export interface StoredRequest {
  readonly licenseKey: string;
  readonly nonce: string;
  /** True if the answer was accepted. Accepting it again changes nothing. */
  readonly isAnswered: boolean;
}

const parseJsonObject = (text: string): object => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
};

function parseCachedLicense(text: string): CachedLicense | undefined {
  const value = parseJsonObject(text);
  const { licenseKey, certificate, isLent, publicKeys, time } = value as Partial<
    Record<keyof CachedLicense, unknown>
  >;
  const { aheadMillis, latestMillis } = (time ?? {}) as Partial<Record<keyof ClockState, unknown>>;
  const isKey = typeof licenseKey === 'string' || licenseKey === null;
  if (!isKey || typeof aheadMillis !== 'number' || typeof latestMillis !== 'number') return undefined;
  return {
    licenseKey,
    certificate: typeof certificate === 'string' ? certificate : null,
    isLent: isLent === true,
    publicKeys: parsePublicKeys(publicKeys),
    time: { aheadMillis, latestMillis },
  };
}

function parseStoredRequest(text: string): StoredRequest | undefined {
  const { licenseKey, nonce, isAnswered } = parseJsonObject(text) as Partial<
    Record<keyof StoredRequest, unknown>
  >;
  const isWhole = typeof licenseKey === 'string' && typeof nonce === 'string';
  return isWhole ? { licenseKey, nonce, isAnswered: isAnswered === true } : undefined;
}

async function readAndParse<Value>(
  file: string,
  parseText: (text: string) => Value | undefined,
): Promise<Value | undefined> {
  try {
    return parseText(await readFile(file, 'utf8'));
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Reads the stored state. Returns undefined if nothing is stored or the file is damaged. The license is then
 * activated again.
 */
export const readCachedLicense = (folder: string): Promise<CachedLicense | undefined> =>
  readAndParse(licenseFileIn(folder), parseCachedLicense);

export const readStoredRequest = (folder: string): Promise<StoredRequest | undefined> =>
  readAndParse(requestFileIn(folder), parseStoredRequest);

/**
 * Returns the time of the last write, by the clock as it was then, or 0 if nothing was written. The later
 * time of the file and its folder counts, because a file's time can be changed.
 */
export async function lastWriteMillis(folder: string): Promise<number> {
  const times = await Promise.all([stat(licenseFileIn(folder)), stat(folder)]).catch(() => []);
  return Math.max(0, ...times.flatMap(({ mtimeMs, ctimeMs }) => [mtimeMs, ctimeMs]));
}

/** Writes a file atomically. If the program is killed while it writes, the old file remains. */
export async function writeAtomically(folder: string, file: string, value: object): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const next = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    const handle = await open(next, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(value, null, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

export const storeLicense = (folder: string, license: CachedLicense): Promise<void> =>
  writeAtomically(folder, licenseFileIn(folder), license);

export const storeRequest = (folder: string, request: StoredRequest): Promise<void> =>
  writeAtomically(folder, requestFileIn(folder), request);

/** Deletes the request. After a refusal or a release earlier answers no longer count. */
export const deleteRequest = (folder: string): Promise<void> => rm(requestFileIn(folder), { force: true });

export async function deleteStoredState(folder: string): Promise<void> {
  await deleteRequest(folder);
  await rm(licenseFileIn(folder), { force: true });
}
