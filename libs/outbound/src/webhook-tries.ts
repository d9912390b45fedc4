/** The retry schedule of webhook deliveries. */

const minuteSeconds = 60;
const hourSeconds = 60 * minuteSeconds;

/**
 * The delays in seconds after each failed attempt: ten attempts in about 75 hours, as Standard Webhooks
 * proposes.
 */
const retryDelaysSeconds = [
  5,
  5 * minuteSeconds,
  30 * minuteSeconds,
  2 * hourSeconds,
  5 * hourSeconds,
  10 * hourSeconds,
  14 * hourSeconds,
  20 * hourSeconds,
  24 * hourSeconds,
];

export const maxWebhookAttempts = retryDelaysSeconds.length + 1;

/**
 * The maximum relative deviation of a delay. It spreads the retries of deliveries that failed at the same
 * time.
 */
const relativeJitter = 0.1;

/**
 * Returns the delay in seconds until the next attempt after this number of failed ones. It is at least the
 * delay that the receiver requested. Returns null after the last attempt. `chance` is a random number from 0
 * to 1.
 */
export function secondsUntilNextAttempt(
  failedAttempts: number,
  random: number,
  retryAfterSeconds: number | null = null,
): number | null {
  const pause = retryDelaysSeconds[failedAttempts - 1];
  if (pause === undefined) return null;
  return Math.max(pause * (1 + relativeJitter * (2 * random - 1)), retryAfterSeconds ?? 0);
}
