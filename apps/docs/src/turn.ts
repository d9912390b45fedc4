/** Work that processes of one clone do one after the other. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';

const lookAgainMillis = 100;

/** SQLITE_BUSY: another process has it. */
const isTaken = (error: unknown): boolean => (error as { errcode?: number }).errcode === 5;

/**
 * Waits until no other process has the file, and works. The lock is the system's, by way of SQLite: it ends with its
 * process, so nothing has to tell a holder that works from one that was killed.
 */
export async function inTurn<T>(file: string, work: () => Promise<T>): Promise<T> {
  await mkdir(path.dirname(file), { recursive: true });
  const turn = new DatabaseSync(file);
  try {
    for (;;) {
      try {
        turn.exec('BEGIN EXCLUSIVE');
        break;
      } catch (error) {
        if (!isTaken(error)) throw error;
      }
      await pause(lookAgainMillis);
    }
    return await work();
  } finally {
    turn.close();
  }
}
