/** When a delivery is tried, and when its endpoint is given up for the time being. */

const minute = 60;
const hour = 60 * minute;

/** Seconds after the try before: ten tries in some 75 hours, as Standard Webhooks proposes. */
const pauses = [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];

export const mostTries = pauses.length + 1;

/** So many of those that fail together do not come back together. */
const jitter = 0.1;

/**
 * Seconds until the next try after this many failed ones, and not before the receiver asked for it; null after the last
 * try. `chance` is from 0 to 1.
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
