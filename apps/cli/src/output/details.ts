/** Formats the details of an audit entry for people. */
import { onOneLine } from '@muster/terminal';
import { cellOf, isObject } from './cells.ts';

const textOf = (value: unknown): string => cellOf(value) ?? onOneLine(JSON.stringify(value));

/** The functions that format known fields, by field. Any other field is shown as its name and value. */
const sayings: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  client: (value) =>
    isObject(value)
      ? [textOf(value['name']), ...(value['host'] === null ? [] : [`of ${textOf(value['host'])}`])].join(' ')
      : undefined,
  agent: (value) => `as ${textOf(value)}`,
  projectIds: (value) => {
    if (value === null) return 'in all projects';
    if (!Array.isArray(value)) return undefined;
    return value.length === 1 ? 'in one project' : `in ${value.length} projects`;
  },
  scopes: (value) =>
    Array.isArray(value)
      ? value
          .map(textOf)
          .join(', ')
          .replace(/, ([^,]*)$/, ' and $1')
      : undefined,
  expiresAt: (value) => (value === null ? undefined : `until ${textOf(value)}`),
};

/** Formats the details on one line. */
export const detailsText = (details: Readonly<Record<string, unknown>>): string =>
  Object.entries(details)
    .map(([field, value]) => sayings[field]?.(value) ?? `${field} ${textOf(value)}`)
    .join(', ');
