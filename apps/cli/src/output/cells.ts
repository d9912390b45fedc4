/** Formats a value of a record as the text of a table cell. */
import { sanitizeToOneLine } from '@muster/terminal';

const isoTimestampPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Formats a time to the minute in UTC, the time zone of the API: `2026-11-21 09:30Z`. */
export const formatTime = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 16)}Z`;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the key or name of a nested record, which stands for the record in a cell. */
const recordNameOf = (value: Readonly<Record<string, unknown>>): string | undefined => {
  const { key, name } = value;
  if (typeof key === 'string') return key;
  return typeof name === 'string' ? name : undefined;
};

/** Returns an empty text for null, and undefined for a value that no cell can hold. */
export function formatCell(value: unknown): string | undefined {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string')
    return isoTimestampPattern.test(value) ? formatTime(value) : sanitizeToOneLine(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) {
    const cells = value.map(formatCell);
    return cells.includes(undefined) ? undefined : cells.join(', ');
  }
  const name = isObject(value) ? recordNameOf(value) : undefined;
  return name === undefined ? undefined : sanitizeToOneLine(name);
}

export { isObject };
