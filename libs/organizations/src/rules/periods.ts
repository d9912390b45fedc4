/** Billing periods: months in UTC, each beginning on the day of the month on which the subscription began. */

export interface Period {
  readonly start: string;
  /** The first moment that is not in it. */
  readonly end: string;
}

/** The same day of the next month, or the last one of a month that is too short for it. */
function monthAfter(from: string, anchorDay: number): string {
  const date = new Date(from);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return new Date(Date.UTC(year, month, Math.min(anchorDay, lastDay))).toISOString();
}

/**
 * The period that `at` is in: the one given, until it ends, and then month after month. `began` is when the
 * subscription did: its day of the month is kept through months that do not have it.
 */
export function rollForward(period: Period, began: string, at: string): Period {
  const anchorDay = new Date(began).getUTCDate();
  let current = period;
  while (current.end <= at) current = { start: current.end, end: monthAfter(current.end, anchorDay) };
  return current;
}
