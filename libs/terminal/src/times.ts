/** `2026-11-21` of a time as the API says it; a dash for none. */
export const dayOf = (time: string | null): string => time?.slice(0, 10) ?? '-';

/** `2026-11-21 09:30`, likewise. */
export const minuteOf = (time: string | null): string => time?.slice(0, 16).replace('T', ' ') ?? '-';
