/** Converts days and spans in the filters of the activity and the audit trail to points in time. */
import { isTimeSpan, type TimeSpan } from '../data/trail-filter.ts';

/** Returns the start of a day in the viewer's time zone, or of a day this many days later. */
export function dayStart(day: string, daysLater = 0): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + daysLater).toISOString();
}

const daysBySpan: Readonly<Record<TimeSpan, number>> = { day: 1, week: 7, month: 30 };

export const parseSince = (since: string, nowMs: number): string =>
  isTimeSpan(since) ? new Date(nowMs - daysBySpan[since] * 86_400_000).toISOString() : dayStart(since);
