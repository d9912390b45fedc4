/** Parses durations and times as operators write them. */

const secondsPerUnit: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
  y: 365 * 86_400,
};

/** The longest duration: a hundred years. All resulting times have four-digit years, as programs expect. */
export const maxTermSeconds = 100 * 365 * 86_400;

/** Parses a duration such as `365d` into seconds; undefined if it is invalid or longer than a hundred years. */
export function durationSecondsOf(span: string): number | undefined {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhdwy])$/.exec(span) ?? [];
  const seconds = Number(count) * (secondsPerUnit[unit] ?? NaN);
  return seconds <= maxTermSeconds ? seconds : undefined;
}

export const latestTimeMillis = Date.UTC(2200, 0, 1);

/**
 * Parses a day, or a time with its zone, into an ISO time in UTC; undefined if it is invalid. Ends of licenses must not
 * be later than the year 2200.
 */
export function parseIsoTime(timeText: string): string | undefined {
  const form = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;
  const time = new Date(form.test(timeText) ? timeText : NaN);
  const day = timeText.slice(0, 10);
  // The Date constructor would turn 2027-02-30 into a day in March.
  const isDay = !Number.isNaN(Date.parse(day)) && new Date(day).toISOString().startsWith(day);
  const isFit = isDay && !Number.isNaN(time.getTime()) && time.getTime() <= latestTimeMillis;
  return isFit ? time.toISOString() : undefined;
}
