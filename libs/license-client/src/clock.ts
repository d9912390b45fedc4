/**
 * Determines a trustworthy time. Each signed answer has the time of the service, and the machine's clock
 * continues from there.
 * A clock that is turned back before a time that was already seen is detected.
 */

/** The stored facts about time, in milliseconds since 1970. */
export interface TimeSeen {
  /** The difference between the service's clock and this machine's clock. */
  readonly aheadMillis: number;
  /** The latest time that was ever seen. */
  readonly latestMillis: number;
}

/** The tolerance for small corrections of the machine's clock. */
const toleranceMillis = 10 * 60_000;

/**
 * Returns the facts of an answer that was signed a moment ago at `serverSeconds`. The service's time replaces
 * everything seen before.
 */
export const timeOfServer = (serverSeconds: number, clockMillis = Date.now()): TimeSeen => ({
  aheadMillis: serverSeconds * 1_000 - clockMillis,
  latestMillis: serverSeconds * 1_000,
});

/**
 * Returns the current time, or undefined if the clock was turned back. `writtenMillis` is the last write by
 * this machine's clock. The contents of the file can be changed more easily than its times.
 */
export function timeNow(
  seen: TimeSeen,
  { clockMillis = Date.now(), writtenMillis = 0 }: { clockMillis?: number; writtenMillis?: number } = {},
): number | undefined {
  if (clockMillis < writtenMillis - toleranceMillis) return undefined;
  const now = clockMillis + seen.aheadMillis;
  if (now < seen.latestMillis - toleranceMillis) return undefined;
  return Math.max(now, seen.latestMillis);
}

/** Records that this time was seen. */
export const seenAt = (seen: TimeSeen, nowMillis: number): TimeSeen => ({
  ...seen,
  latestMillis: Math.max(seen.latestMillis, nowMillis),
});

/**
 * Returns the facts of a carried answer, signed at `serverSeconds` an unknown time ago. A machine's clock
 * that is behind that time is corrected by the difference; a later one counts as it is.
 */
export const timeOfCarried = (serverSeconds: number, clockMillis = Date.now()): TimeSeen => ({
  aheadMillis: Math.max(0, serverSeconds * 1_000 - clockMillis),
  latestMillis: serverSeconds * 1_000,
});
