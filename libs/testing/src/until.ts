import { setTimeout as pause } from 'node:timers/promises';

/** The time limit, which is less than the time limit of a spec. */
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
