/** Formats a result for people: lists as tables, records as names and values. */
import {
  formatHeading,
  terminalSafeJson,
  sanitizeToOneLine,
  type TerminalFormat,
  sanitizeForTerminal,
} from '@muster/terminal';
import { formatCell, isObject } from './cells.ts';
import { formatDetails } from './details.ts';
import { formatTable } from './table.ts';

type ResultRecord = Readonly<Record<string, unknown>>;

/**
 * Returns the columns of an event in reading order: time, actor, kind and subject. Returns undefined for
 * other records.
 */
function eventColumns(item: ResultRecord): ResultRecord | undefined {
  const { at, actor, kind, subject, operation, target, outcome, reason, details } = item;
  if (at === undefined || actor === undefined) return undefined;
  if (isObject(subject)) {
    const { key, title } = subject;
    return { at, actor, kind, subject: [key, title].filter((part) => typeof part === 'string').join(' ') };
  }
  if (operation === undefined) return undefined;
  const said = isObject(details) ? { details: formatDetails(details) } : {};
  return { at, actor, operation, outcome: reason ?? outcome, target, ...said };
}

const collectFieldNames = (items: readonly ResultRecord[]): string[] => [
  ...new Set(items.flatMap((item) => Object.keys(item))),
];

/**
 * Formats a list as a table of `fields`. Without `fields`, the table has the most useful columns of the
 * records.
 */
export function formatList(
  items: readonly ResultRecord[],
  terminal: TerminalFormat,
  fields?: string[],
): string[] {
  if (items.length === 0) return ['None.'];
  const happened = items.map(eventColumns).filter((line) => line !== undefined);
  const { head, lines } =
    happened.length === items.length
      ? formatTable(happened, terminal.width, collectFieldNames(happened))
      : formatTable(items, terminal.width, fields);
  return [formatHeading(head, terminal), ...lines];
}

/** Yields the values of a record with their paths, without null and empty values. */
function* flattenRecord(record: ResultRecord, prefix = ''): Generator<[string, string]> {
  for (const [field, value] of Object.entries(record)) {
    const name = `${prefix}${field}`;
    if (typeof value === 'string' && value.includes('\n')) {
      yield [name, sanitizeForTerminal(value)];
      continue;
    }
    const cell =
      isObject(value) && prefix === '' && Object.keys(value).length > 2 ? undefined : formatCell(value);
    if (cell !== undefined) {
      if (cell !== '') yield [name, cell];
    } else if (isObject(value)) yield* flattenRecord(value, `${name}.`);
    else yield [name, terminalSafeJson(value)];
  }
}

/** The fields that are shown first. */
const leadingFields = ['key', 'title', 'name', 'status', 'state'];
const isIdField = (field: string): boolean => field === 'id' || field.endsWith('Id') || field.endsWith('.id');

/** Returns a field's sort position: identifying fields come first and ids last. */
function fieldSortPosition(field: string): number {
  const place = leadingFields.indexOf(field);
  if (place !== -1) return place;
  return leadingFields.length + (isIdField(field) ? 1 : 0);
}

/** Formats a record. Long texts follow below it, unchanged. */
export function formatRecord(record: ResultRecord): string[] {
  const values = [...flattenRecord(record)].toSorted(
    ([one], [other]) => fieldSortPosition(one) - fieldSortPosition(other),
  );
  const short = values.filter(([, text]) => !text.includes('\n'));
  const width = Math.max(0, ...short.map(([name]) => name.length));
  return [
    ...short.map(([name, text]) => `${name.padEnd(width)}  ${text}`),
    ...values
      .filter(([, text]) => text.includes('\n'))
      .flatMap(([name, text]) => [
        '',
        `${name}:`,
        ...text
          .trimEnd()
          .split('\n')
          .map((line) => `  ${line}`.trimEnd()),
      ]),
  ];
}

const isRecordList = (value: unknown): value is ResultRecord[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject);

/** Formats an answer of the API. */
export function formatResult(result: ResultRecord, terminal: TerminalFormat): string[] {
  if (Array.isArray(result['items'])) return formatList(result['items'].filter(isObject), terminal);
  if (result['deleted'] === true) return ['Deleted.'];
  const parts = Object.entries(result);
  const simple = Object.fromEntries(parts.filter(([, value]) => !isObject(value) && !isRecordList(value)));
  const sections = parts.flatMap(([name, value]) => {
    if (isObject(value) && Object.keys(value).length > 0) return [{ name, lines: formatRecord(value) }];
    return isRecordList(value) ? [{ name, lines: formatList(value, terminal) }] : [];
  });
  const scalars = formatRecord(simple);
  const [only] = sections;
  if (sections.length === 1 && only !== undefined && scalars.length === 0) return only.lines;
  if (sections.length + scalars.length === 0) return ['None.'];
  return [
    ...scalars,
    ...sections.flatMap(({ name, lines }, place) => [
      ...(place === 0 && scalars.length === 0 ? [] : ['']),
      formatHeading(name, terminal),
      ...lines.map((line) => `  ${line}`),
    ]),
  ];
}

const writeVerbs: Readonly<Record<string, string>> = { create: 'Created', update: 'Updated' };

/**
 * Describes in a sentence what a create or update did. Returns undefined for other operations, and if the
 * result has no record with a key, title or name.
 */
export function summarizeWrite(operation: string, result: ResultRecord): string | undefined {
  const verb = writeVerbs[operation.slice(operation.lastIndexOf('.') + 1)];
  const [record] = Object.values(result).filter(isObject);
  if (verb === undefined || record === undefined) return undefined;
  const words = [record['key'], record['title'] ?? record['name']].filter((word) => typeof word === 'string');
  return words.length === 0 ? undefined : `${verb} ${sanitizeToOneLine(words.join(': '))}.`;
}
