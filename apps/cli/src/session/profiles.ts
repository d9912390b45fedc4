/** The file that `muster login` writes: addresses with their tokens, by name. */
import { mkdir, open, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import envPaths from 'env-paths';
import { z } from 'zod';
import { UsageError } from '@muster/terminal';

const Profile = z.object({
  baseUrl: z.string(),
  token: z.string(),
  /** The data for token renewal, if a person signed in. */
  oauth: z
    .object({
      refreshToken: z.string(),
      /** The time at which the token expires, by the clock of this machine. */
      expiresAt: z.iso.datetime(),
      tokenUrl: z.url(),
      revocationUrl: z.url(),
    })
    .optional(),
});
export type Profile = z.infer<typeof Profile>;
export type OAuthLogin = NonNullable<Profile['oauth']>;

const Profiles = z.object({
  /** The login that is used if none is named. */
  current: z.string().nullable(),
  profiles: z.record(z.string(), Profile),
});
export type Profiles = z.infer<typeof Profiles>;

export const defaultProfileName = 'default';

export const profilesFile = (): string =>
  path.join(envPaths('muster', { suffix: '' }).config, 'profiles.json');

/** Reads the logins. There are none before the first sign-in. */
export async function readProfiles(): Promise<Profiles> {
  const file = profilesFile();
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: null, profiles: {} };
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    return Profiles.parse(JSON.parse(text));
  } catch {
    throw new UsageError(`${file} is damaged; remove it and sign in again`);
  }
}

const throwWriteError = (error: unknown): never => {
  throw new UsageError(`${profilesFile()} cannot be written: ${(error as Error).message}`);
};

/** Writes the file atomically, readable by its owner only. */
async function writeProfiles(profiles: Profiles): Promise<void> {
  const file = profilesFile();
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  await rename(unfinished, file);
}

/**
 * The age after which a lock file is stale, because the process that created it must have died. It is longer
 * than any change of the file takes, including the call that renews a token.
 */
const staleLockMillis = 15_000;

/** Runs the work while no other process changes the file. */
async function withFileLock<Result>(work: () => Promise<Result>): Promise<Result> {
  const lock = `${profilesFile()}.lock`;
  await mkdir(path.dirname(lock), { recursive: true, mode: 0o700 }).catch(throwWriteError);
  for (;;) {
    try {
      await (await open(lock, 'wx', 0o600)).close();
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throwWriteError(error);
      const since = await stat(lock).then(
        ({ mtimeMs }) => mtimeMs,
        () => Date.now(),
      );
      if (Date.now() - since > staleLockMillis) await rm(lock, { force: true }).catch(throwWriteError);
      else await pause(50);
    }
  }
  try {
    return await work();
  } finally {
    await unlink(lock).catch(() => undefined);
  }
}

/**
 * Reads, changes and writes the file, one process at a time. Writes nothing if the change returns no new
 * profiles.
 */
export const updateProfiles = <Result>(
  change: (before: Profiles) => Promise<{ readonly after?: Profiles; readonly result: Result }>,
): Promise<Result> =>
  withFileLock(async () => {
    const { after, result } = await change(await readProfiles());
    if (after !== undefined) await writeProfiles(after).catch(throwWriteError);
    return result;
  });
