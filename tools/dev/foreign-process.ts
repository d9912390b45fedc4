import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Returns true if a process with this id runs, whatever account it belongs to. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM means that the process exists and runs as another account.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return !isZombie(pid);
}

/**
 * Returns true for a zombie: a process that ended and was not collected by its parent. In many containers
 * that never happens, and the id stays taken.
 */
function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/**
 * Returns the command line of a running process, or ''. It identifies the process, because process ids are
 * reused.
 */
export async function commandLineOf(pid: number): Promise<string> {
  if (!isRunning(pid)) return '';
  // Small Linux images have no ps.
  const told = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
  if (told !== undefined) return told.replaceAll('\0', ' ').trim();
  const shown = await run('ps', ['-ww', '-o', 'args=', '-p', pid.toString()]).catch(() => undefined);
  return shown?.stdout.trim() ?? '';
}

/**
 * Ends a process that is not a child of the current process. Sends each signal, and waits for a while before
 * it sends the next, stronger signal. Returns true when the process is gone.
 */
export async function endProcess(
  pid: number,
  signals: readonly (readonly [NodeJS.Signals, seconds: number])[],
): Promise<boolean> {
  for (const [signal, seconds] of signals) {
    try {
      process.kill(pid, signal);
    } catch {
      return !isRunning(pid);
    }
    const until = Date.now() + seconds * 1000;
    while (Date.now() < until) {
      if (!isRunning(pid)) return true;
      await pause(20);
    }
  }
  return !isRunning(pid);
}
