/** Billing periods: months in UTC that begin on the day of the month on which the subscription began. */

export interface TimeRange {
  readonly start: string;
  /** The exclusive end of the period. */
  readonly end: string;
}

/** Returns the same day of the next month, or its last day if the month is too short. */
function addMonth(time: string, anchorDay: number): string {
  const date = new Date(time);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return new Date(Date.UTC(year, month, Math.min(anchorDay, lastDay))).toISOString();
}

/**
 * Returns the period that contains `at`: the given one, or a later month. `began` is the start of the
 * subscription. Its day of the month is remembered through months that are too short for it.
 */
export function findPeriodContaining(period: TimeRange, subscriptionStart: string, time: string): TimeRange {
  const anchorDay = new Date(subscriptionStart).getUTCDate();
  let current = period;
  while (current.end <= time) current = { start: current.end, end: addMonth(current.end, anchorDay) };
  return current;
}
