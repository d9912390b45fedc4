import { chown, mkdtemp, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { canWorkIn, type DemoAccount } from './account.ts';
import { isRunning } from './foreign-process.ts';

/** The file that names the process to which a temporary folder belongs. */
const OWNER_FILE = 'owner';

/** Linux's file system in memory. */
const memoryFolder = '/dev/shm';
/**
 * The memory in bytes that must be available. A run of all specs writes far less than half of it, which
 * leaves memory for the specs themselves.
 */
const leastFreeInMemory = 8 * 1024 ** 3;

/**
 * Creates a folder for data that are not needed after this process. It is in memory if enough is free,
 * because cloning a database there takes a tenth of the processor time.
 * Otherwise it is in the first temporary folder where the account can work, because TMPDIR may be private to
 * root.
 */
export async function makeThrowAwayFolder(prefix: string, account: DemoAccount | undefined): Promise<string> {
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
 * Removes folders of owners that were killed together with their leashes. Failures are ignored, because a
 * folder may belong to another user or be in removal by another run.
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
