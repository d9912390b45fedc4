/** Provides the texts in the reader's language, and formats times and numbers for the reader's locale. */
import { serverNow } from '../data/time.ts';
import { en, type Texts } from './en.ts';

export const t: Texts = en;

const relativeFormat = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const dateTimeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

const relativeUnits = [
  { unit: 'second', millis: 1_000, until: 60_000 },
  { unit: 'minute', millis: 60_000, until: 3_600_000 },
  { unit: 'hour', millis: 3_600_000, until: 86_400_000 },
  { unit: 'day', millis: 86_400_000, until: 30 * 86_400_000 },
  { unit: 'month', millis: 30 * 86_400_000, until: 365 * 86_400_000 },
] as const;

function formatRelativeTime(millis: number): string {
  const step = relativeUnits.find(({ until }) => Math.abs(millis) < until) ?? {
    unit: 'year' as const,
    millis: 365 * 86_400_000,
  };
  return relativeFormat.format(Math.round(millis / step.millis), step.unit);
}

/** Formats a past time, such as "5 min. ago". It never shows a future time, even if the clocks differ. */
export const timeAgo = (time: string, nowMs = serverNow()): string =>
  formatRelativeTime(Math.min(0, Date.parse(time) - nowMs));

/** Formats the time at which something ends, such as "in 5 days" or, if that time has passed, "5 days ago". */
export const timeUntil = (time: string, nowMs = serverNow()): string =>
  formatRelativeTime(Date.parse(time) - nowMs);

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

const shortDayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

export const formatShortDay = (millis: number): string => shortDayFormat.format(millis);

/** Parses a time, or a calendar date such as 2026-11-21 as the start of that day in the browser's time zone. */
const parseDay = (time: string): number => Date.parse(time.length === 10 ? `${time}T00:00` : time);

export const formatDay = (time: string): string => dayFormat.format(parseDay(time));
export const formatShortDate = (date: string): string => shortDayFormat.format(parseDay(date));
/** Returns true if the calendar date is before today in the browser's time zone. */
export const isPastDate = (date: string, nowMs = serverNow()): boolean =>
  new Date(parseDay(date)).setHours(24, 0, 0, 0) <= nowMs;
export const formatDateTime = (time: string): string => dateTimeFormat.format(Date.parse(time));

const durationFormats = {
  second: createDurationFormat('second'),
  minute: createDurationFormat('minute'),
  hour: createDurationFormat('hour'),
  day: createDurationFormat('day'),
};

function createDurationFormat(unit: 'second' | 'minute' | 'hour' | 'day'): Intl.NumberFormat {
  return new Intl.NumberFormat(undefined, {
    ...{ style: 'unit', unit, unitDisplay: 'narrow', maximumFractionDigits: 0 },
  });
}

/** Formats a duration in its largest unit: "12m". */
export function formatDuration(millis: number): string {
  const seconds = Math.max(0, Math.round(millis / 1_000));
  if (seconds < 60) return durationFormats.second.format(seconds);
  if (seconds < 3_600) return durationFormats.minute.format(Math.round(seconds / 60));
  if (seconds < 172_800) return durationFormats.hour.format(Math.round(seconds / 3_600));
  return durationFormats.day.format(Math.round(seconds / 86_400));
}
