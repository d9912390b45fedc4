/**
 * Ensures that only one process works on `.data`, because two Postgres servers on one folder would destroy
 * it.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { claimFile, isClaimed } from './claim.ts';
import { dataFolder } from './repository.ts';

const claimOf = (folder: string): string => path.join(folder, 'instance.sqlite');
/** The file with the process id of the holder, for other processes. */
const pidFileOf = (folder: string): string => path.join(folder, 'instance.pid');

/**
 * Claims the folder for this process. Throws a one-line error that names the process that already holds it.
 */
export function claimInstance(folder = dataFolder): { readonly release: () => void } {
  mkdirSync(folder, { recursive: true });
  const claimed = claimFile(claimOf(folder));
  if (claimed === undefined) {
    const holder = instanceHolder(folder);
    throw new Error(
      holder === undefined
        ? 'Muster begins or ends here right now: try again'
        : `Muster already runs here (process ${holder}): stop it with Ctrl-C, or with kill ${holder}`,
    );
  }
  writeFileSync(pidFileOf(folder), process.pid.toString());
  return {
    release: () => {
      if (!claimed.isOpen) return;
      rmSync(pidFileOf(folder), { force: true });
      claimed.close();
    },
  };
}

/** Returns the process that works on the folder now. */
export function instanceHolder(folder = dataFolder): number | undefined {
  if (!existsSync(claimOf(folder)) || !isClaimed(claimOf(folder))) return undefined;
  try {
    return Number(readFileSync(pidFileOf(folder), 'utf8'));
  } catch {
    return undefined;
  }
}
