/** Formats the details of an audit entry for people. */
import { sanitizeToOneLine } from '@muster/terminal';
import { formatCell, isObject } from './cells.ts';

const formatValue = (value: unknown): string => formatCell(value) ?? sanitizeToOneLine(JSON.stringify(value));

/** The functions that format known fields, by field. Any other field is shown as its name and value. */
const fieldFormatters: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  client: (value) =>
    isObject(value)
      ? [
          formatValue(value['name']),
          ...(value['host'] === null ? [] : [`of ${formatValue(value['host'])}`]),
        ].join(' ')
      : undefined,
  agent: (value) => `as ${formatValue(value)}`,
  projectIds: (value) => {
    if (value === null) return 'in all projects';
    if (!Array.isArray(value)) return undefined;
    return value.length === 1 ? 'in one project' : `in ${value.length} projects`;
  },
  scopes: (value) =>
    Array.isArray(value)
      ? value
          .map(formatValue)
          .join(', ')
          .replace(/, ([^,]*)$/, ' and $1')
      : undefined,
  expiresAt: (value) => (value === null ? undefined : `until ${formatValue(value)}`),
};

/** Formats the details on one line. */
export const formatDetails = (details: Readonly<Record<string, unknown>>): string =>
  Object.entries(details)
    .map(([field, value]) => fieldFormatters[field]?.(value) ?? `${field} ${formatValue(value)}`)
    .join(', ');
