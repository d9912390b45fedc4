/** The retry schedule of webhook deliveries. */

const minute = 60;
const hour = 60 * minute;

/**
 * The delays in seconds after each failed attempt: ten attempts in about 75 hours, as Standard Webhooks
 * proposes.
 */
const pauses = [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];

export const mostTries = pauses.length + 1;

/**
 * The maximum relative deviation of a delay. It spreads the retries of deliveries that failed at the same
 * time.
 */
const jitter = 0.1;

/**
 * Answers the delay in seconds until the next attempt after this number of failed ones. It is at least the
 * delay that the receiver requested. Answers null after the last attempt. `chance` is a random number from 0
 * to 1.
 */
export function nextTryInSeconds(
  failed: number,
  chance: number,
  retryAfterSeconds: number | null = null,
): number | null {
  const pause = pauses[failed - 1];
  if (pause === undefined) return null;
  return Math.max(pause * (1 + jitter * (2 * chance - 1)), retryAfterSeconds ?? 0);
}
