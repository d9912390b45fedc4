import { chown, mkdtemp, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { canWorkIn, type Account } from './account.ts';
import { isRunning } from './foreign-process.ts';

/** Names the process that a throw-away folder serves. */
const OWNER_FILE = 'owner';

/** Linux's file system in memory. */
const memoryFolder = '/dev/shm';
/** A run of all specs writes far less there. Twice as much has to be available, so that the specs have room themselves. */
const leastFreeInMemory = 8 * 1024 ** 3;

/**
 * A new folder for data that nobody needs after this process: in memory where there is plenty, since a database is cloned
 * there in a tenth of the processor time; else in the first temporary place that the account can work in (TMPDIR may be
 * private to root).
 */
export async function makeThrowAwayFolder(prefix: string, account: Account | undefined): Promise<string> {
  const parents = [...((await hasMemoryToSpare()) ? [memoryFolder] : []), ...temporaryFolders()];
  for (const parent of parents) {
    const folder = await mkdtemp(path.join(parent, prefix)).catch(() => undefined);
    if (folder === undefined) continue;
    await writeFile(path.join(folder, OWNER_FILE), process.pid.toString());
    if (account !== undefined) await chown(folder, account.uid, account.gid);
    if (await canWorkIn(folder, account)) return folder;
    await rm(folder, { recursive: true });
  }
  throw new Error(`no temporary folder to work in: tried ${parents.join(', ')}`);
}

/**
 * Clears what owners that were killed, together with their leashes, left behind. What belongs to another user, or
 * is being cleared by another run at this moment, is not our business: failures are ignored.
 */
export async function removeAbandonedFolders(
  prefix: string,
  stopService: (folder: string) => Promise<void>,
): Promise<void> {
  for (const parent of [memoryFolder, ...temporaryFolders()]) {
    const names = await readdir(parent).catch(() => []);
    for (const name of names.filter((candidate) => candidate.startsWith(prefix))) {
      const folder = path.join(parent, name);
      const owner = await readFile(path.join(folder, OWNER_FILE), 'utf8').catch(() => '');
      if (owner === '' || isRunning(Number(owner))) continue;
      await stopService(folder)
        .then(() => rm(folder, { recursive: true, force: true }))
        .catch(() => undefined);
    }
  }
}

async function hasMemoryToSpare(): Promise<boolean> {
  if (process.platform !== 'linux' || process.availableMemory() < 2 * leastFreeInMemory) return false;
  const { bavail, bsize } = await statfs(memoryFolder).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= leastFreeInMemory;
}

function temporaryFolders(): string[] {
  return [...new Set([tmpdir(), ...(process.platform === 'win32' ? [] : ['/tmp', '/var/tmp'])])];
}
