/** Provides the texts in the reader's language, and formats times and numbers for the reader's locale. */
import { timeNow } from '../data/time.ts';
import { en, type Texts } from './en.ts';

export const t: Texts = en;

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

const steps = [
  { unit: 'second', millis: 1_000, until: 60_000 },
  { unit: 'minute', millis: 60_000, until: 3_600_000 },
  { unit: 'hour', millis: 3_600_000, until: 86_400_000 },
  { unit: 'day', millis: 86_400_000, until: 30 * 86_400_000 },
  { unit: 'month', millis: 30 * 86_400_000, until: 365 * 86_400_000 },
] as const;

function relatively(millis: number): string {
  const step = steps.find(({ until }) => Math.abs(millis) < until) ?? {
    unit: 'year' as const,
    millis: 365 * 86_400_000,
  };
  return relative.format(Math.round(millis / step.millis), step.unit);
}

/** Formats a past time, such as "5 min. ago". It never shows a future time, even if the clocks differ. */
export const ago = (time: string, now = timeNow()): string => relatively(Math.min(0, Date.parse(time) - now));

/** Formats the time of an end, such as "in 5 days", including one in the past. */
export const ending = (time: string, now = timeNow()): string => relatively(Date.parse(time) - now);

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

const dayAndMonth = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

export const shortDay = (millis: number): string => dayAndMonth.format(millis);
export const exactDay = (time: string): string => day.format(Date.parse(time));
export const exactly = (time: string): string => moment.format(Date.parse(time));

const short = {
  second: narrow('second'),
  minute: narrow('minute'),
  hour: narrow('hour'),
  day: narrow('day'),
};

function narrow(unit: 'second' | 'minute' | 'hour' | 'day'): Intl.NumberFormat {
  return new Intl.NumberFormat(undefined, {
    ...{ style: 'unit', unit, unitDisplay: 'narrow', maximumFractionDigits: 0 },
  });
}

/** Formats a duration in its largest unit: "12m". */
export function span(millis: number): string {
  const seconds = Math.max(0, Math.round(millis / 1_000));
  if (seconds < 60) return short.second.format(seconds);
  if (seconds < 3_600) return short.minute.format(Math.round(seconds / 60));
  if (seconds < 172_800) return short.hour.format(Math.round(seconds / 3_600));
  return short.day.format(Math.round(seconds / 86_400));
}
