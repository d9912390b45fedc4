/** The server's time, which determines lease expiry and all dates. A browser's clock may be minutes off. */

/** Tolerance for network delay and for the difference between synchronized clocks. */
const clockToleranceMs = 1_000;

let serverOffsetMs = 0;

/**
 * Sets the clock offset from the server's time in a response, and from the browser's times of request and
 * response.
 */
export function setServerTime(serverTime: string, requestedAtMs: number, respondedAtMs: number): void {
  const found = Date.parse(serverTime) - (requestedAtMs + respondedAtMs) / 2;
  const uncertain = (respondedAtMs - requestedAtMs) / 2 + clockToleranceMs;
  serverOffsetMs = Math.abs(found) > uncertain ? found : 0;
}

/** Returns the server's time in milliseconds since 1970. */
export const serverNow = (): number => Date.now() + serverOffsetMs;

export const dayMs = 86_400_000;
export const weekMs = 7 * dayMs;

/** Returns the start of the week in UTC, in milliseconds since 1970. Weeks begin on Monday. */
export const utcWeekStart = (timeMs: number): number =>
  // January 1, 1970 was a Thursday, three days after a Monday.
  timeMs - ((timeMs + 3 * dayMs) % weekMs);
