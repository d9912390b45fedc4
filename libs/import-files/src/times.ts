/** Parses times as trackers write them. */
import { UnreadableFileError } from './source.ts';

/** The order of day and month in `01/02/2024`. */
export type DateOrder = 'mdy' | 'dmy';

const isoPattern = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?(\.\d+)?\s*(Z|[+-]\d{2}:?\d{2})?)?$/i;
/** Matches `01/Mar/24 10:05 AM`, Jira's default format. */
const namedMonthPattern =
  /^(\d{1,2})[/ -]([a-z]{3})[a-z]*[/ -](\d{2}|\d{4})(?:,?\s+(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([ap]m)?)?$/i;
const slashedDatePattern =
  /^(\d{1,2})[/.](\d{1,2})[/.](\d{2}|\d{4})(?:,?\s+(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([ap]m)?)?$/i;
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const timeZonePattern = /(?:Z|GMT|UTC|[+-]\d{2}:?\d{2})(?:\s*\(.*\))?$/i;

const parseYear = (text: string): number => (text.length === 2 ? 2000 : 0) + Number(text);

/** Returns the hour of a clock with or without am and pm. */
function parseHour(text: string | undefined, amOrPm: string | undefined): number {
  const hour = Number(text ?? 0);
  if (amOrPm === undefined) return hour;
  return (hour % 12) + (amOrPm.toLowerCase() === 'pm' ? 12 : 0);
}

type ClockParts = readonly (string | undefined)[];

function toUtcMillis(
  year: number,
  month: number,
  day: number,
  [hour, minute, second, half]: ClockParts,
): number {
  const time = Date.UTC(year, month, day, parseHour(hour, half), Number(minute ?? 0), Number(second ?? 0));
  // Rejects dates such as 31 February.
  return new Date(time).getUTCDate() === day ? time : Number.NaN;
}

function parseMillis(text: string, dateOrder: DateOrder | undefined): number {
  const isoParts = isoPattern.exec(text);
  if (isoParts !== null) {
    const [, day = '', clock = '00:00', seconds = ':00', fraction = '', zone = 'Z'] = isoParts;
    const zoned = /^[+-]\d{4}$/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase();
    return Date.parse(`${day}T${clock}${seconds}${fraction.slice(0, 4)}${zoned}`);
  }
  const namedParts = namedMonthPattern.exec(text);
  if (namedParts !== null) {
    const [, day, month = '', year = '', ...clock] = namedParts;
    return toUtcMillis(parseYear(year), months.indexOf(month.toLowerCase()), Number(day), clock);
  }
  const slashedParts = slashedDatePattern.exec(text);
  if (slashedParts !== null) {
    const [, first, second, year = '', ...clock] = slashedParts;
    const [one, two] = [Number(first), Number(second)];
    const isDayFirst = one > 12 || (two <= 12 && dateOrder === 'dmy');
    if (one <= 12 && two <= 12 && one !== two && dateOrder === undefined)
      throw new UnreadableFileError(
        `times such as ${text} are ambiguous; state whether the month (mdy) or the day (dmy) comes first`,
        'dates',
      );
    return isDayFirst
      ? toUtcMillis(parseYear(year), two - 1, one, clock)
      : toUtcMillis(parseYear(year), one - 1, two, clock);
  }
  // Parses the formats of JavaScript and e-mail, such as `Fri, 05 Jan 2024 10:00:00 GMT`, which have the name
  // of a day or month.
  return /[a-z]{3}/i.test(text) ? Date.parse(timeZonePattern.test(text) ? text : `${text} UTC`) : Number.NaN;
}

const earliestMillis = Date.UTC(1970, 0, 1);
const latestMillis = Date.UTC(2200, 0, 1);

/**
 * Returns the time in RFC 3339 and UTC, or undefined if the text is not a time. A time without a zone counts
 * as UTC. Throws UnreadableFileError if day and month are ambiguous and no order is given.
 */
export function parseTime(text: string, dateOrder?: DateOrder): string | undefined {
  const millis = parseMillis(text.trim(), dateOrder);
  return millis >= earliestMillis && millis < latestMillis ? new Date(millis).toISOString() : undefined;
}
