/** Parses files of licenses, CSV with a header or JSON lines. Each invalid row has a problem. */
import { CsvError, parse } from 'csv-parse/sync';
import { InvalidArgumentError } from 'commander';
import { type FormattedKey, parseKey } from '../key/key.ts';
import { type Incoming } from '../operators/import.ts';
import { Refused } from '../operators/transaction.ts';
import { positiveSpan, toCount, toMachines, toTime } from './term.ts';

const fields = [
  'order_ref',
  'key',
  'plan',
  'for',
  'expires',
  'perpetual',
  'customer_ref',
  'transfers',
  'machines',
] as const;
type Field = (typeof fields)[number];

const mostRows = 100_000;
const longestRef = 128;

/** A row of the file, with the texts of its cells by field. */
interface Entry {
  readonly line: number;
  readonly cells: ReadonlyMap<Field, string>;
}

export interface ImportFileRow {
  readonly line: number;
  readonly orderRef: string | null;
  /** The license that the row describes; undefined if the row is invalid. */
  readonly incoming: Incoming | undefined;
  readonly problem: string | undefined;
}

/** Normalizes a column name: `orderRef`, `Order Ref` and `order-ref` become `order_ref`. */
function fieldOf(name: string): Field {
  const plain = name.toLowerCase().replaceAll(/[^a-z]/g, '');
  const field = fields.find((one) => one.replace('_', '') === plain);
  if (field !== undefined) return field;
  throw new Refused(
    'column',
    `${JSON.stringify(name)} is not a field of a license; valid fields: ${fields.join(', ')}`,
  );
}

function csvRecords(text: string): Entry[] {
  let parsed: { readonly info: { readonly lines: number }; readonly record: readonly string[] }[];
  try {
    parsed = parse(text, {
      bom: true,
      info: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as typeof parsed;
  } catch (error) {
    if (error instanceof CsvError) throw new Refused('csv', `the file is not valid CSV: ${error.message}`);
    throw error;
  }
  const [head, ...rows] = parsed;
  const names = (head?.record ?? []).map(fieldOf);
  if (new Set(names).size !== names.length) throw new Refused('column', 'a column appears twice');
  return rows.map(({ info, record }) => ({
    line: info.lines,
    cells: new Map(names.map((name, place) => [name, record[place] ?? ''])),
  }));
}

function jsonRecord(text: string, line: number): Entry {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refused('jsonl', `line ${line} is not valid JSON`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refused('jsonl', `line ${line} is not a JSON object`);
  }
  const cells = Object.entries(value).map(([name, one]: [string, unknown]): [Field, string] => {
    if (one === null) return [fieldOf(name), ''];
    if (typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean') {
      return [fieldOf(name), String(one).trim()];
    }
    throw new Refused('jsonl', `line ${line}: ${name} must be a text or a number`);
  });
  return { line, cells: new Map(cells) };
}

const jsonRecords = (text: string): Entry[] =>
  text
    .replace(/^\ufeff/, '')
    .split('\n')
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== '')
    .map(({ line, number }) => jsonRecord(line, number));

/** The error that describes why a row is invalid. */
class Unfit extends Error {}

function keyOf(text: string, prefix: string): FormattedKey | undefined {
  if (text === '') return undefined;
  const parsed = parseKey(text, [prefix]);
  if (parsed.kind === 'key') return parsed.key;
  // The message does not quote the text of the cell, because that may be a customer's key with one wrong
  // symbol.
  throw new Unfit(
    parsed.kind === 'typo'
      ? `character ${parsed.typedPosition} of the key looks wrong, perhaps it is ${parsed.perhaps}`
      : 'the key has another format; leave it out to get a new one',
  );
}

function refOf(name: Field, text: string): string {
  if (text.length > longestRef) throw new Unfit(`${name} is longer than ${longestRef} characters`);
  if (/\p{Cc}/u.test(text)) throw new Unfit(`${name} has control characters`);
  if (name === 'customer_ref' && text.includes('@')) {
    throw new Unfit('customer_ref must be your own reference, not an e-mail address');
  }
  return text;
}

function termOf(cell: (name: Field) => string): Incoming['term'] {
  const perpetual = cell('perpetual').toLowerCase();
  if (!['', 'true', 'false', 'yes', 'no', '1', '0'].includes(perpetual)) {
    throw new Unfit('perpetual must be true or false');
  }
  const isPerpetual = ['true', 'yes', '1'].includes(perpetual);
  const terms = [
    cell('for') !== '' && ({ kind: 'for', seconds: positiveSpan(cell('for')) } as const),
    cell('expires') !== '' && ({ kind: 'until', expiresAt: toTime(cell('expires')) } as const),
    isPerpetual && ({ kind: 'perpetual' } as const),
  ].filter((one) => one !== false);
  if (terms.length > 1) throw new Unfit('it has more than one of for, expires and perpetual');
  return terms[0];
}

/** The default values of rows, and the key prefix of the product. */
export interface Usual {
  readonly plan: string | undefined;
  readonly term: Incoming['term'];
  /** The key prefix of the product. */
  readonly keyPrefix: string;
}

function incomingOf({ cells }: Entry, { plan, term, keyPrefix }: Usual): Omit<Incoming, 'orderLine'> {
  const cell = (name: Field): string => cells.get(name) ?? '';
  const orderRef = refOf('order_ref', cell('order_ref'));
  if (orderRef === '') throw new Unfit('order_ref is missing; it identifies the row in later imports');
  const named = cell('plan') || plan;
  if (named === undefined) throw new Unfit('plan is missing (--plan sets one for all rows)');
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/.test(named)) {
    throw new Unfit("a plan's name has only lower-case letters, digits and . _ -");
  }
  const [transfers, machines] = [cell('transfers'), cell('machines')];
  return {
    ...{ orderRef, plan: named, key: keyOf(cell('key'), keyPrefix), term: termOf(cell) ?? term },
    customerRef: refOf('customer_ref', cell('customer_ref')) || null,
    transferLimit: transfers === '' ? undefined : Math.min(toCount(transfers), 1_000),
    machineLimit: machines === '' ? undefined : toMachines(machines),
  };
}

const problemOf = (error: unknown): string => {
  if (error instanceof Unfit || error instanceof InvalidArgumentError) return error.message;
  throw error;
};

/**
 * Parses a whole file. Throws Refused if the text does not have the format. For an invalid row, returns the
 * problem of the row.
 */
export function readRows(text: string, format: 'csv' | 'jsonl', usual: Usual): ImportFileRow[] {
  const records = format === 'csv' ? csvRecords(text) : jsonRecords(text);
  if (records.length === 0) throw new Refused('empty', 'the file has no rows');
  if (records.length > mostRows) throw new Refused('rows', `a file can have at most ${mostRows} rows`);
  const lines = new Map<string, number>();
  const keys = new Set<FormattedKey>();
  return records.map((record): ImportFileRow => {
    const orderRef = record.cells.get('order_ref') || null;
    // Numbers the rows of an order, including invalid rows. So the other rows keep their numbers when the
    // file has been corrected.
    const orderLine = orderRef === null ? 1 : (lines.get(orderRef) ?? 0) + 1;
    if (orderRef !== null) lines.set(orderRef, orderLine);
    try {
      const row = incomingOf(record, usual);
      if (row.key !== undefined && keys.has(row.key)) throw new Unfit('an earlier row has the same key');
      if (row.key !== undefined) keys.add(row.key);
      return { line: record.line, orderRef, incoming: { ...row, orderLine }, problem: undefined };
    } catch (error) {
      return { line: record.line, orderRef, incoming: undefined, problem: problemOf(error) };
    }
  });
}
