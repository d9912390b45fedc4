import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { commandLineOf } from './foreign-process.ts';
import { dataFolder } from './repository.ts';

/** Names the one process that may work on `.data`. */
const lockFile = path.join(dataFolder, 'instance.pid');

/**
 * Makes this process the one that works on `.data`, or throws one line that says who already does. Two Postgres on
 * one folder would destroy it. The lock of a process that was killed counts for nothing.
 */
export async function claimInstance(): Promise<{ release: () => void }> {
  mkdirSync(dataFolder, { recursive: true });
  for (;;) {
    try {
      writeFileSync(lockFile, process.pid.toString(), { flag: 'wx' });
      return {
        release: () => {
          rmSync(lockFile, { force: true });
        },
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = await instanceHolder();
    if (holder !== undefined) {
      throw new Error(
        `Muster already runs here (process ${holder}): stop it with Ctrl-C, or with kill ${holder}`,
      );
    }
    rmSync(lockFile, { force: true });
  }
}

/** The process that works on `.data` now. */
export async function instanceHolder(): Promise<number | undefined> {
  let text: string;
  try {
    text = readFileSync(lockFile, 'utf8');
  } catch {
    return undefined;
  }
  const pid = Number(text);
  // The number may belong to something else by now.
  const commandLine = pid > 0 ? await commandLineOf(pid) : '';
  return /tools\/dev\/(start|muster)\.ts/.test(commandLine.replaceAll('\\', '/')) ? pid : undefined;
}
