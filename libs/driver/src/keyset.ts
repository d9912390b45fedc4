/**
 * Keyset pagination: cuts pages from rows and encodes the cursor of the next page. A cursor is opaque to callers; it is
 * the base64url of the sort values of the last row.
 */
import { isCleanText, isUuid, maxPageBytes } from '@muster/contract';
import { z } from 'zod';
import { type Part, sql } from './sql.ts';

/** The error for a cursor that this list did not issue. */
export class BadCursor extends Error {
  /** The name of the parameter that had the cursor. */
  readonly param: string;

  constructor(param = 'cursor') {
    super('the cursor does not belong to this list');
    this.param = param;
    this.name = 'BadCursor';
  }
}

/**
 * Schemas of the parts of a cursor. A caller may have forged a cursor, so each part accepts only values that Postgres
 * accepts for its type.
 */
export const CursorId = z.string().refine(isUuid);
export const CursorText = z.string().max(1024).refine(isCleanText);
/** A timestamp. Postgres rejects the year 0. */
export const CursorTime = z.iso.datetime({ precision: 3 }).refine((time) => !time.startsWith('0000'));
/** A sequence number of a stream, which may exceed 32 bits. */
export const CursorSeq = z.int().min(1);
/** A 32-bit count that starts at 0. */
export const CursorCount = z.int32().min(0);

/** The sort values of one row, as a cursor contains them. */
type CursorKey = readonly (string | number)[];

/** A page of any list. */
export interface Page<Item> {
  readonly items: Item[];
  readonly nextCursor: string | null;
}

/**
 * Builds SQL that cuts the rows of an ordered, limited select at the byte budget of a page, plus one extra row. `bytes`
 * is the size of the large texts of a row `q`. Postgres stores that size, so measuring does not read the texts.
 * Each row has `more_follow`, true if another row follows. The size of JSON in Postgres exceeds that in the answer,
 * which has shorter numbers and no blanks. So SQL may cut a page that the answer would have room for.
 */
export const limitToPageBytes = (rows: Part, rowBytes: Part, order: Part): Part =>
  sql.part`select q.* from (select q.*, coalesce(sum(${rowBytes})
       over (order by ${order} rows between unbounded preceding and 2 preceding), 0) as bytes_before,
       lead(true) over (order by ${order}) is not null as more_follow from (${rows}) q) q
     where q.bytes_before <= ${sql.literal(maxPageBytes)} order by ${order}`;

/**
 * The most rows that a text search examines for one page. An index on parts of texts would not help, because row-level
 * security applies its own condition before any condition on texts. A page that reaches this limit has the matches up
 * to there, and its cursor continues after the last examined row.
 */
export const maxSearchedRows = 1_000;

/**
 * The extra columns of a searched row: `fits` is true if the row matches, and `nth` is its ordinal among the
 * examined rows.
 */
interface SearchedRow {
  readonly fits?: boolean;
  readonly nth?: number;
}

/**
 * Builds SQL for a page of an ordered select: the first matching rows `q` and the last examined row. If `fits` is null,
 * there is no search and the page has the first rows. `order` repeats the order of the select by columns of `q`.
 */
export const searchPageSql = (rows: Part, matchCondition: Part | null, order: Part, limit: Part): Part =>
  matchCondition === null
    ? sql.part`${rows} limit ${limit}`
    : sql.part`select q.* from (select q.*, (${matchCondition}) as fits, row_number() over (order by ${order}) as nth
         from (${rows} limit ${sql.literal(maxSearchedRows)}) q) q
       where q.fits or q.nth = ${sql.literal(maxSearchedRows)} order by ${order} limit ${limit}`;

/** Cuts a page, with its cursor, from the rows of `searched`. */
export function pageOfSearchRows<Row extends object, Item>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => CursorKey,
  toItem: (row: Row) => Item,
): Page<Item> {
  const last = rows.find((row: SearchedRow) => row.nth === maxSearchedRows);
  const found = rows.filter((row: SearchedRow) => row.fits !== false);
  return pageOfRows(found, limit, keyOf, toItem, last === undefined ? undefined : keyOf(last));
}

/** The column that `limitToPageBytes` adds to a row. */
interface ByteLimitedRow {
  readonly more_follow?: boolean | undefined;
}

/**
 * The hidden property of a page with a function that returns the page cut to its first `count` items and the matching
 * cursor. A symbol is not serialized with the answer. A WeakMap would make V8 retain its keys until a full garbage
 * collection.
 */
const shortenSymbol = Symbol('shorter');

/** Attaches the function that shortens a page whose answer would be too long. */
export function makeShortenable<Page extends object>(page: Page, shorten: (count: number) => Page): Page {
  return Object.defineProperty(page, shortenSymbol, { value: shorten });
}

/** Returns the page cut to its first `count` items; undefined for an object that is not a shortenable page. */
export const shortenPage = (page: object, count: number): object | undefined =>
  (page as { readonly [shortenSymbol]?: (count: number) => object })[shortenSymbol]?.(count);

/**
 * Cuts a page and the cursor of the next one from `limit + 1` rows. `searchStoppedAt` is the key of the last row that a
 * search examined before it stopped. `encode` writes cursors.
 */
export function pageOfRows<Row, Item, RowKey extends CursorKey = CursorKey>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => RowKey,
  toItem: (row: Row) => Item,
  searchStoppedAt?: RowKey,
  encode: (key: RowKey) => string = encodeCursor,
): Page<Item> {
  const pageRows = rows.slice(0, limit);
  const items = pageRows.map(toItem);
  const cursorAfter = (count: number): string | null => {
    const last = pageRows[count - 1];
    return last === undefined ? null : encode(keyOf(last));
  };
  const end = searchStoppedAt === undefined ? null : encode(searchStoppedAt);
  const last = rows.at(-1) as ByteLimitedRow | undefined;
  // Without more rows, a search that stopped early continues after the last examined row.
  const goesOn = rows.length > limit || (searchStoppedAt === undefined && last?.more_follow === true);
  return makeShortenable({ items, nextCursor: goesOn ? cursorAfter(pageRows.length) : end }, (count) => ({
    items: items.slice(0, count),
    nextCursor: cursorAfter(count),
  }));
}

export const encodeCursor = (key: CursorKey): string =>
  Buffer.from(JSON.stringify(key)).toString('base64url');

/** Decodes a cursor and validates it against the key schema of this list. Throws BadCursor. */
export function decodeCursor<Key>(cursor: string, shape: z.ZodType<Key>): Key;
export function decodeCursor<Key>(cursor: string | undefined, shape: z.ZodType<Key>): Key | undefined;
export function decodeCursor<Key>(cursor: string | undefined, shape: z.ZodType<Key>): Key | undefined {
  if (cursor === undefined) return undefined;
  try {
    return shape.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
  } catch {
    throw new BadCursor();
  }
}
