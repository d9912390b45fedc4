/** Formats a time of the API as its day, such as `2026-11-21`. Returns a dash for null. */
export const formatDay = (time: string | null): string => time?.slice(0, 10) ?? '-';

/** Formats a time of the API to the minute, such as `2026-11-21 09:30`. Returns a dash for null. */
export const formatMinute = (time: string | null): string => time?.slice(0, 16).replace('T', ' ') ?? '-';
