import { setTimeout as pause } from 'node:timers/promises';

/**
 * The time limit in milliseconds. It is shorter than the time limit of a spec, so that the error names the
 * condition.
 */
const longestLookMillis = 45_000;
/** The polling interval. Frequent checks would take processor time from the awaited work. */
const lookMillis = 5;

/** Polls until the condition is true. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + longestLookMillis;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('it did not come to be');
    await pause(lookMillis);
  }
}
