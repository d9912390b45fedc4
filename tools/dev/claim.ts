/** A file that one process holds: the system gives it back when that process ends, however it ends. */
import { DatabaseSync } from 'node:sqlite';

/** Longer than another process looks whether it is held. */
const waitMillis = 500;

const isBusy = (error: unknown): boolean => error instanceof Error && error.message.includes('locked');

/** Garbage collection closes a database that nothing refers to, which would end the claim. */
const held = new Set<DatabaseSync>();

/** Makes this process its holder until it is closed; undefined where another process is. */
export function claimFile(file: string): DatabaseSync | undefined {
  const claim = new DatabaseSync(file, { timeout: waitMillis });
  try {
    claim.exec('BEGIN EXCLUSIVE');
    held.add(claim);
    return claim;
  } catch (error) {
    claim.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

/** Whether a process holds it. */
export function isClaimed(file: string): boolean {
  const look = new DatabaseSync(file);
  try {
    look.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    look.close();
  }
}
