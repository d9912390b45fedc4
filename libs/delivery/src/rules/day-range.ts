/** The range of days that sums and counts are about. */
import { badRequest } from '@muster/runtime';

const dayMillis = 24 * 60 * 60 * 1_000;
const defaultDays = 30;

export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** Fills in the default range, which ends today. Throws 400 for a range that is reversed or too long. */
export function daysOfRange(
  asked: { readonly from?: string | undefined; readonly to?: string | undefined },
  maxDays = Number.POSITIVE_INFINITY,
): DayRange {
  const to = asked.to ?? new Date().toISOString();
  const from = asked.from ?? new Date(Date.parse(to) - (defaultDays - 1) * dayMillis).toISOString();
  if (Date.parse(from) > Date.parse(to))
    throw badRequest('The range ends before it begins.', [
      { path: 'to', message: 'must not be before from' },
    ]);
  if (Date.parse(to) - Date.parse(from) > maxDays * dayMillis)
    throw badRequest(`The range is longer than ${maxDays} days.`, [
      { path: 'from', message: `must be at most ${maxDays} days before to` },
    ]);
  return { from, to };
}
