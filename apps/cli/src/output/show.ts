/** Formats a result for people: lists as tables, records as names and values. */
import { heading, jsonText, onOneLine, type TerminalFormat, plain } from '@muster/terminal';
import { cellOf, isObject } from './cells.ts';
import { detailsText } from './details.ts';
import { tableOf } from './table.ts';

type Item = Readonly<Record<string, unknown>>;

/**
 * Returns the columns of an event in reading order: time, actor, kind and subject. Returns undefined for
 * other records.
 */
function lineOf(item: Item): Item | undefined {
  const { at, actor, kind, subject, operation, target, outcome, reason, details } = item;
  if (at === undefined || actor === undefined) return undefined;
  if (isObject(subject)) {
    const { key, title } = subject;
    return { at, actor, kind, subject: [key, title].filter((part) => typeof part === 'string').join(' ') };
  }
  if (operation === undefined) return undefined;
  const said = isObject(details) ? { details: detailsText(details) } : {};
  return { at, actor, operation, outcome: reason ?? outcome, target, ...said };
}

const fieldsIn = (items: readonly Item[]): string[] => [
  ...new Set(items.flatMap((item) => Object.keys(item))),
];

/**
 * Formats a list as a table of `fields`. Without `fields`, the table has the most useful columns of the
 * records.
 */
export function showList(items: readonly Item[], page: TerminalFormat, fields?: string[]): string[] {
  if (items.length === 0) return ['None.'];
  const happened = items.map(lineOf).filter((line) => line !== undefined);
  const { head, lines } =
    happened.length === items.length
      ? tableOf(happened, page.width, fieldsIn(happened))
      : tableOf(items, page.width, fields);
  return [heading(head, page), ...lines];
}

/** Yields the values of a record with their paths, without null and empty values. */
function* valuesOf(record: Item, prefix = ''): Generator<[string, string]> {
  for (const [field, value] of Object.entries(record)) {
    const name = `${prefix}${field}`;
    if (typeof value === 'string' && value.includes('\n')) {
      yield [name, plain(value)];
      continue;
    }
    const cell =
      isObject(value) && prefix === '' && Object.keys(value).length > 2 ? undefined : cellOf(value);
    if (cell !== undefined) {
      if (cell !== '') yield [name, cell];
    } else if (isObject(value)) yield* valuesOf(value, `${name}.`);
    else yield [name, jsonText(value)];
  }
}

/** The fields that are shown first. */
const leadingFields = ['key', 'title', 'name', 'status', 'state'];
const isId = (field: string): boolean => field === 'id' || field.endsWith('Id') || field.endsWith('.id');

/** Returns a field's sort position: identifying fields come first and ids last. */
function placeOf(field: string): number {
  const place = leadingFields.indexOf(field);
  if (place !== -1) return place;
  return leadingFields.length + (isId(field) ? 1 : 0);
}

/** Formats a record. Long texts follow below it, unchanged. */
export function showRecord(record: Item): string[] {
  const values = [...valuesOf(record)].toSorted(([one], [other]) => placeOf(one) - placeOf(other));
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

const isListOfItems = (value: unknown): value is Item[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject);

/** Formats an answer of the API. */
export function showResult(result: Item, page: TerminalFormat): string[] {
  if (Array.isArray(result['items'])) return showList(result['items'].filter(isObject), page);
  if (result['deleted'] === true) return ['Deleted.'];
  const parts = Object.entries(result);
  const simple = Object.fromEntries(parts.filter(([, value]) => !isObject(value) && !isListOfItems(value)));
  const sections = parts.flatMap(([name, value]) => {
    if (isObject(value) && Object.keys(value).length > 0) return [{ name, lines: showRecord(value) }];
    return isListOfItems(value) ? [{ name, lines: showList(value, page) }] : [];
  });
  const scalars = showRecord(simple);
  const [only] = sections;
  if (sections.length === 1 && only !== undefined && scalars.length === 0) return only.lines;
  if (sections.length + scalars.length === 0) return ['None.'];
  return [
    ...scalars,
    ...sections.flatMap(({ name, lines }, place) => [
      ...(place === 0 && scalars.length === 0 ? [] : ['']),
      heading(name, page),
      ...lines.map((line) => `  ${line}`),
    ]),
  ];
}

const done: Readonly<Record<string, string>> = { create: 'Created', update: 'Updated' };

/**
 * Describes in a sentence what a write did. Returns undefined if the record in its result has neither key,
 * title nor name.
 */
export function sentenceOf(operation: string, result: Item): string | undefined {
  const verb = done[operation.slice(operation.lastIndexOf('.') + 1)];
  const [record] = Object.values(result).filter(isObject);
  if (verb === undefined || record === undefined) return undefined;
  const words = [record['key'], record['title'] ?? record['name']].filter((word) => typeof word === 'string');
  return words.length === 0 ? undefined : `${verb} ${onOneLine(words.join(': '))}.`;
}
