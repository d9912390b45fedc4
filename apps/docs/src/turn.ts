/** Serializes work of processes that run in the same clone of the repository. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';

const lockRetryDelayMs = 100;

/** SQLITE_BUSY: another process holds the lock. */
const isLockHeld = (error: unknown): boolean => (error as { errcode?: number }).errcode === 5;

/**
 * Waits until no other process holds the lock on the file, then runs the work. The operating system holds the
 * lock, through SQLite, and releases it when the process ends. No process therefore has to detect a killed
 * lock holder.
 */
export async function withFileLock<T>(lockFile: string, work: () => Promise<T>): Promise<T> {
  await mkdir(path.dirname(lockFile), { recursive: true });
  const turn = new DatabaseSync(lockFile);
  try {
    for (;;) {
      try {
        turn.exec('BEGIN EXCLUSIVE');
        break;
      } catch (error) {
        if (!isLockHeld(error)) throw error;
      }
      await pause(lockRetryDelayMs);
    }
    return await work();
  } finally {
    turn.close();
  }
}
