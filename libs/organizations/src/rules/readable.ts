/** Formats a time: `2026-11-21T09:30:00.000Z` → `21 November 2026, 09:30 UTC`. */
export const formatReadableTime = (time: string): string =>
  `${new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(time))}, ${time.slice(11, 16)} UTC`;
