/**
 * Determines a trustworthy time. Each signed answer has the time of the service, and the machine's clock
 * continues from there.
 * A clock that is turned back before a time that was already seen is detected.
 */

/** The stored facts about time, in milliseconds since 1970. */
export interface ClockState {
  /**
   * The time by which the service's clock is ahead of this machine's clock, in milliseconds. It is negative
   * if this machine's clock is ahead.
   */
  readonly aheadMillis: number;
  /** The latest time by the service's clock that this machine has ever seen. */
  readonly latestMillis: number;
}

/** The tolerance in milliseconds for small corrections of the machine's clock. */
const clockToleranceMillis = 10 * 60_000;

/**
 * Returns the times to store when the license service has just signed an answer at `serverSeconds`. They
 * replace all times that were stored before.
 */
export const clockStateOfServer = (serverSeconds: number, clockMillis = Date.now()): ClockState => ({
  aheadMillis: serverSeconds * 1_000 - clockMillis,
  latestMillis: serverSeconds * 1_000,
});

/**
 * Returns the current time, or undefined if the clock was turned back. `writtenMillis` is the time of the
 * last write by this machine's clock. It is compared too, because a file's contents are easier to change than
 * its times.
 */
export function currentTimeMillis(
  clockState: ClockState,
  { clockMillis = Date.now(), writtenMillis = 0 }: { clockMillis?: number; writtenMillis?: number } = {},
): number | undefined {
  if (clockMillis < writtenMillis - clockToleranceMillis) return undefined;
  const now = clockMillis + clockState.aheadMillis;
  if (now < clockState.latestMillis - clockToleranceMillis) return undefined;
  return Math.max(now, clockState.latestMillis);
}

/** Returns the stored times with this time as the latest one, unless a later one was already seen. */
export const withLatestTime = (clockState: ClockState, nowMillis: number): ClockState => ({
  ...clockState,
  latestMillis: Math.max(clockState.latestMillis, nowMillis),
});

/**
 * Returns the stored times after accepting a carried answer, which was signed at `serverSeconds`, an unknown
 * time ago. If the machine's clock is behind that time, the difference corrects the clock. A later clock
 * counts as correct.
 */
export const clockStateOfCarriedAnswer = (serverSeconds: number, clockMillis = Date.now()): ClockState => ({
  aheadMillis: Math.max(0, serverSeconds * 1_000 - clockMillis),
  latestMillis: serverSeconds * 1_000,
});
