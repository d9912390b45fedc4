/** Keyset pages: how one is cut from rows, and the opaque cursor of the next: the sort values of the last row, in base64url. */
import { isCleanText, isUuid, mostPageBytes } from '@muster/registry';
import { z } from 'zod';
import { type Part, sql } from './sql.ts';

/** The text of a cursor is not one that this list gave out. */
export class BadCursor extends Error {
  /** The parameter that it came in. */
  readonly param: string;

  constructor(param = 'cursor') {
    super('the cursor is not one of this list');
    this.param = param;
    this.name = 'BadCursor';
  }
}

/**
 * What a cursor is made of. A caller may have made one up, so each part is what Postgres takes for a value of its type,
 * and nothing else.
 */
export const CursorId = z.string().refine(isUuid);
export const CursorText = z.string().max(1024).refine(isCleanText);
/** Postgres knows no year 0. */
export const CursorTime = z.iso.datetime({ precision: 3 }).refine((time) => !time.startsWith('0000'));
/** Of a stream, which counts beyond 32 bits. */
export const CursorSeq = z.int().min(1);
/** Of anything that is counted from 0 in 32 bits. */
export const CursorCount = z.int32().min(0);

/** What a list is sorted by, of one row. */
type Key = readonly (string | number)[];

/** What every list answers. */
export interface Page<Item> {
  readonly items: Item[];
  readonly nextCursor: string | null;
}

/**
 * SQL for the rows of a select that orders and limits, as far as they make a page: `bytes`, of its row `q`, is what its
 * large texts measure, and one row beyond the page comes along. Measuring reads no text: Postgres keeps its length.
 * Each row says whether `more_follow`: what Postgres measures of JSON is no measure of the answer, where numbers are
 * shorter and there are no blanks, so that a page may be cut here which is nowhere near its end there.
 */
export const withinPage = (rows: Part, bytes: Part, order: Part): Part =>
  sql.part`select q.* from (select q.*, coalesce(sum(${bytes})
       over (order by ${order} rows between unbounded preceding and 2 preceding), 0) as bytes_before,
       lead(true) over (order by ${order}) is not null as more_follow from (${rows}) q) q
     where q.bytes_before <= ${sql.literal(mostPageBytes)} order by ${order}`;

/**
 * A list that is searched looks at so many rows for a page at most: an index of parts of texts would not do, since
 * row security lets no condition on texts come before its own. A page that looked so far comes with what it found, and
 * its cursor goes on from there.
 */
export const mostLookedAt = 1_000;

/** What a page that is searched knows of its rows besides. */
interface LookedAt {
  readonly fits?: boolean;
  readonly nth?: number;
}

/**
 * SQL for a page of a select that orders: the first rows `q` that fit, and the last one looked at. Where nothing is
 * searched (`fits` is null), its first rows. `order` is that of the select, by columns of `q`.
 */
export const searched = (rows: Part, fits: Part | null, order: Part, limit: Part): Part =>
  fits === null
    ? sql.part`${rows} limit ${limit}`
    : sql.part`select q.* from (select q.*, (${fits}) as fits, row_number() over (order by ${order}) as nth
         from (${rows} limit ${sql.literal(mostLookedAt)}) q) q
       where q.fits or q.nth = ${sql.literal(mostLookedAt)} order by ${order} limit ${limit}`;

/** What follows a page that may have been searched. */
export function pageOfSearch<Row extends object, Item>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => Key,
  toItem: (row: Row) => Item,
): Page<Item> {
  const last = rows.find((row: LookedAt) => row.nth === mostLookedAt);
  const found = rows.filter((row: LookedAt) => row.fits !== false);
  return pageOfRows(found, limit, keyOf, toItem, last === undefined ? undefined : keyOf(last));
}

/** What a page that was cut by bytes knows of its rows besides. */
interface Measured {
  readonly more_follow?: boolean | undefined;
}

/**
 * Of pages that can be made shorter: the same page with its first `count` items, from which the next one goes on. It is no
 * field of the answer; and no WeakMap, since V8 keeps what such a map is told of until it collects all of the heap.
 */
const shorter = Symbol('shorter');

/** Says how a page is made shorter, where it would be too long an answer. */
export function shortenable<Page extends object>(page: Page, shorten: (count: number) => Page): Page {
  return Object.defineProperty(page, shorter, { value: shorten });
}

/** The page with its first `count` items; undefined for what is no page, or none that can be made shorter. */
export const shortened = (page: object, count: number): object | undefined =>
  (page as { readonly [shorter]?: (count: number) => object })[shorter]?.(count);

/**
 * What follows a page: the items of the page and the cursor of the next, from `limit + 1` rows. `goesOnAfter` is the
 * place that was looked through up to, where there are no more rows because the search ended there. `encode` writes cursors.
 */
export function pageOfRows<Row, Item, RowKey extends Key = Key>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => RowKey,
  toItem: (row: Row) => Item,
  goesOnAfter?: RowKey,
  encode: (key: RowKey) => string = encodeCursor,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const items = shown.map(toItem);
  const cursorAfter = (count: number): string | null => {
    const last = shown[count - 1];
    return last === undefined ? null : encode(keyOf(last));
  };
  const end = goesOnAfter === undefined ? null : encode(goesOnAfter);
  const last = rows.at(-1) as Measured | undefined;
  // What follows the last item may be the place that was looked through up to: from there it goes on.
  const goesOn = rows.length > limit || (goesOnAfter === undefined && last?.more_follow === true);
  return shortenable({ items, nextCursor: goesOn ? cursorAfter(shown.length) : end }, (count) => ({
    items: items.slice(0, count),
    nextCursor: cursorAfter(count),
  }));
}

export const encodeCursor = (key: Key): string => Buffer.from(JSON.stringify(key)).toString('base64url');

/** Reads a cursor back, checked against the shape of this list's key. Throws BadCursor. */
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
