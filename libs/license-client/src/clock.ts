/**
 * The time, as far as it can be trusted. Each signed answer tells the server's; between answers the machine's clock
 * counts on from there. A person who turns it back past a time that was seen already is told so.
 */

/** What is kept of the time, in milliseconds since 1970. */
export interface TimeSeen {
  /** How far the server's clock was ahead of this machine's. */
  readonly aheadMillis: number;
  /** The latest time that was ever seen. */
  readonly latestMillis: number;
}

/** Clocks are set right by small steps now and then. */
const toleranceMillis = 10 * 60_000;

/** What an answer tells, signed a moment ago at `serverSeconds`. The server's word stands above all that was seen before. */
export const timeOfServer = (serverSeconds: number, clockMillis = Date.now()): TimeSeen => ({
  aheadMillis: serverSeconds * 1_000 - clockMillis,
  latestMillis: serverSeconds * 1_000,
});

/**
 * The time now; undefined where the clock was turned back. `writtenMillis` is when this machine last wrote down what it
 * had seen, by its own clock: what was written can be changed, the times of files less so.
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

/** It was seen to be so late. */
export const seenAt = (seen: TimeSeen, nowMillis: number): TimeSeen => ({
  ...seen,
  latestMillis: Math.max(seen.latestMillis, nowMillis),
});

/**
 * What an answer tells that people carried: signed at `serverSeconds`, it is unknown how long ago. A machine's clock that stands
 * before then is set right by so much; one that stands after it counts as it is.
 */
export const timeOfCarried = (serverSeconds: number, clockMillis = Date.now()): TimeSeen => ({
  aheadMillis: Math.max(0, serverSeconds * 1_000 - clockMillis),
  latestMillis: serverSeconds * 1_000,
});
