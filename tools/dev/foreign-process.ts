import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether a process with this id runs, whoever's it is. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, but as somebody else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return !isUncollected(pid);
}

/** Ended, but its parent never asked how: in many containers nobody does, and the number stays taken for ever. */
function isUncollected(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** The command line of a running process, or '' — process ids are reused, so an id alone identifies nothing. */
export async function commandLineOf(pid: number): Promise<string> {
  if (!isRunning(pid)) return '';
  // Small Linux images have no ps.
  const told = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
  if (told !== undefined) return told.replaceAll('\0', ' ').trim();
  const shown = await run('ps', ['-ww', '-o', 'args=', '-p', pid.toString()]).catch(() => undefined);
  return shown?.stdout.trim() ?? '';
}

/**
 * Ends a process that is not our child: each signal in turn gets its time before the next, sterner one.
 * True when it is gone.
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
