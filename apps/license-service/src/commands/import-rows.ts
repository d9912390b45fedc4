/** Parses files of licenses, CSV with a header or JSON lines. Each invalid row has a problem. */
import { CsvError, parse } from 'csv-parse/sync';
import { InvalidArgumentError } from 'commander';
import { type FormattedKey, parseKey } from '../key/key.ts';
import { type IncomingLicense } from '../operators/import.ts';
import { RefusedError } from '../operators/transaction.ts';
import { parsePositiveDurationSeconds, parseCount, parseMachineLimit, parseTime } from './term.ts';

const importColumns = [
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
type ImportFileColumn = (typeof importColumns)[number];

const maxImportRows = 100_000;
const maxReferenceLength = 128;

/** A row of the file, with the texts of its cells by field. */
interface ImportRecord {
  readonly line: number;
  readonly cells: ReadonlyMap<ImportFileColumn, string>;
}

export interface ImportFileRow {
  readonly line: number;
  readonly orderRef: string | null;
  /** The license that the row describes; undefined if the row is invalid. */
  readonly license: IncomingLicense | undefined;
  readonly problem: string | undefined;
}

/** Normalizes a column name: `orderRef`, `Order Ref` and `order-ref` become `order_ref`. */
function columnOf(name: string): ImportFileColumn {
  const plain = name.toLowerCase().replaceAll(/[^a-z]/g, '');
  const field = importColumns.find((one) => one.replace('_', '') === plain);
  if (field !== undefined) return field;
  throw new RefusedError(
    'column',
    `${JSON.stringify(name)} is not a field of a license; valid fields: ${importColumns.join(', ')}`,
  );
}

function parseCsv(text: string): ImportRecord[] {
  let parsed: { readonly info: { readonly lines: number }; readonly record: readonly string[] }[];
  try {
    parsed = parse(text, {
      bom: true,
      info: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as typeof parsed;
  } catch (error) {
    if (error instanceof CsvError)
      throw new RefusedError('csv', `the file is not valid CSV: ${error.message}`);
    throw error;
  }
  const [head, ...rows] = parsed;
  const names = (head?.record ?? []).map(columnOf);
  if (new Set(names).size !== names.length) throw new RefusedError('column', 'a column appears twice');
  return rows.map(({ info, record }) => ({
    line: info.lines,
    cells: new Map(names.map((name, place) => [name, record[place] ?? ''])),
  }));
}

function parseJsonLine(text: string, line: number): ImportRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RefusedError('jsonl', `line ${line} is not valid JSON`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RefusedError('jsonl', `line ${line} is not a JSON object`);
  const cells = Object.entries(value).map(([name, one]: [string, unknown]): [ImportFileColumn, string] => {
    if (one === null) return [columnOf(name), ''];
    if (typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean')
      return [columnOf(name), String(one).trim()];
    throw new RefusedError('jsonl', `line ${line}: ${name} must be a text or a number`);
  });
  return { line, cells: new Map(cells) };
}

const parseJsonLines = (text: string): ImportRecord[] =>
  text
    .replace(/^\ufeff/, '')
    .split('\n')
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== '')
    .map(({ line, number }) => parseJsonLine(line, number));

/** The error that describes why a row is invalid. */
class InvalidRowError extends Error {}

function parseKeyCell(text: string, prefix: string): FormattedKey | undefined {
  if (text === '') return undefined;
  const parsed = parseKey(text, [prefix]);
  if (parsed.kind === 'key') return parsed.key;
  // The message does not quote the text of the cell, because that may be a customer's key with one wrong
  // symbol.
  throw new InvalidRowError(
    parsed.kind === 'typo'
      ? `character ${parsed.typedPosition} of the key looks wrong, perhaps it is ${parsed.perhaps}`
      : 'the key has another format; leave it out to get a new one',
  );
}

function requireValidReference(column: ImportFileColumn, text: string): string {
  if (text.length > maxReferenceLength)
    throw new InvalidRowError(`${column} is longer than ${maxReferenceLength} characters`);
  if (/\p{Cc}/u.test(text)) throw new InvalidRowError(`${column} has control characters`);
  if (column === 'customer_ref' && text.includes('@'))
    throw new InvalidRowError('customer_ref must be your own reference, not an e-mail address');
  return text;
}

function parseTermCells(cell: (name: ImportFileColumn) => string): IncomingLicense['term'] {
  const perpetual = cell('perpetual').toLowerCase();
  if (!['', 'true', 'false', 'yes', 'no', '1', '0'].includes(perpetual))
    throw new InvalidRowError('perpetual must be true or false');
  const isPerpetual = ['true', 'yes', '1'].includes(perpetual);
  const terms = [
    cell('for') !== '' && ({ kind: 'for', seconds: parsePositiveDurationSeconds(cell('for')) } as const),
    cell('expires') !== '' && ({ kind: 'until', expiresAt: parseTime(cell('expires')) } as const),
    isPerpetual && ({ kind: 'perpetual' } as const),
  ].filter((one) => one !== false);
  if (terms.length > 1) throw new InvalidRowError('it has more than one of for, expires and perpetual');
  return terms[0];
}

/** The default values of rows, and the key prefix of the product. */
export interface ImportDefaults {
  readonly plan: string | undefined;
  readonly term: IncomingLicense['term'];
  /** The key prefix of the product. */
  readonly keyPrefix: string;
}

function toIncomingLicense(
  { cells }: ImportRecord,
  { plan, term, keyPrefix }: ImportDefaults,
): Omit<IncomingLicense, 'orderLine'> {
  const cell = (name: ImportFileColumn): string => cells.get(name) ?? '';
  const orderRef = requireValidReference('order_ref', cell('order_ref'));
  if (orderRef === '')
    throw new InvalidRowError('order_ref is missing; it identifies the row in later imports');
  const named = cell('plan') || plan;
  if (named === undefined) throw new InvalidRowError('plan is missing (--plan sets one for all rows)');
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/.test(named))
    throw new InvalidRowError("a plan's name has only lower-case letters, digits and . _ -");
  const [transfers, machines] = [cell('transfers'), cell('machines')];
  return {
    orderRef,
    plan: named,
    key: parseKeyCell(cell('key'), keyPrefix),
    term: parseTermCells(cell) ?? term,
    customerRef: requireValidReference('customer_ref', cell('customer_ref')) || null,
    transferLimit: transfers === '' ? undefined : Math.min(parseCount(transfers), 1_000),
    machineLimit: machines === '' ? undefined : parseMachineLimit(machines),
  };
}

const rowProblemOf = (error: unknown): string => {
  if (error instanceof InvalidRowError || error instanceof InvalidArgumentError) return error.message;
  throw error;
};

/**
 * Parses a whole file. Throws Refused if the text does not have the format. For an invalid row, returns the
 * problem of the row.
 */
export function parseImportFile(
  text: string,
  format: 'csv' | 'jsonl',
  defaults: ImportDefaults,
): ImportFileRow[] {
  const records = format === 'csv' ? parseCsv(text) : parseJsonLines(text);
  if (records.length === 0) throw new RefusedError('empty', 'the file has no rows');
  if (records.length > maxImportRows)
    throw new RefusedError('rows', `a file can have at most ${maxImportRows} rows`);
  const lines = new Map<string, number>();
  const keys = new Set<FormattedKey>();
  return records.map((record): ImportFileRow => {
    const orderRef = record.cells.get('order_ref') || null;
    // Numbers the rows of an order, including invalid rows. So the other rows keep their numbers when the
    // file has been corrected.
    const orderLine = orderRef === null ? 1 : (lines.get(orderRef) ?? 0) + 1;
    if (orderRef !== null) lines.set(orderRef, orderLine);
    try {
      const row = toIncomingLicense(record, defaults);
      if (row.key !== undefined && keys.has(row.key))
        throw new InvalidRowError('an earlier row has the same key');
      if (row.key !== undefined) keys.add(row.key);
      return { line: record.line, orderRef, license: { ...row, orderLine }, problem: undefined };
    } catch (error) {
      return { line: record.line, orderRef, license: undefined, problem: rowProblemOf(error) };
    }
  });
}
