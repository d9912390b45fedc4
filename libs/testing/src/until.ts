import { setTimeout as pause } from 'node:timers/promises';

/**
 * The time limit in milliseconds. It is shorter than the time limit of a spec, so that the error names the
 * condition.
 */
const timeoutMillis = 45_000;
/** The polling interval. Frequent checks would take processor time from the awaited work. */
const pollIntervalMillis = 5;

/** Polls until the condition is true. */
export async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + timeoutMillis;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('it did not come to be');
    await pause(pollIntervalMillis);
  }
}
