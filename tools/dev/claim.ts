/** A file that one process holds. The system releases it when that process ends, even if it is killed. */
import { DatabaseSync } from 'node:sqlite';

/** The time to wait in milliseconds. It is longer than another process takes to check the file. */
const waitMillis = 500;

const isBusy = (error: unknown): boolean => error instanceof Error && error.message.includes('locked');

/**
 * Keeps a reference, because garbage collection closes an unreferenced database, which would end the claim.
 */
const held = new Set<DatabaseSync>();

/**
 * Claims the file for this process until the result is closed. Returns undefined if another process holds it.
 */
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

/** Returns true if a process holds the file. */
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
