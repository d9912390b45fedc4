/**
 * Paginated reading of the organization's two streams, newest first. Their numbers have no gaps and follow
 * the commit order, so a page is a scan backwards from a number. This file keeps that scan short for all
 * filters.
 */
import {
  CursorSeq,
  type DB,
  type Db,
  decodeCursor,
  encodeCursor,
  orgFilter,
  type Page,
  pageOfRows,
  type Part,
  sql,
  limitToPageBytes,
} from '@muster/driver';
import { type Selectable } from 'kysely';
import { z } from 'zod';
import { type EventCursors } from './event-cursors.ts';

/**
 * The maximum number of entries that one page scans. A filter that matches few entries would otherwise scan
 * the whole stream. Such a page has fewer items than requested, and its cursor continues where the scan
 * stopped.
 */
export const maxScannedEntries = 5_000;

type StreamTable = 'activity' | 'audit';

interface StreamPageParams<From extends StreamTable> {
  readonly table: From;
  /**
   * The conditions on the entry `e` that define the streams to scan. An index must answer each one in the
   * order of seq. Several streams are merged.
   */
  readonly streamConditions: readonly Part[];
  /** Further conditions on the entry `e`. */
  readonly filterConditions: readonly Part[];
  /** SQL expressions for the limits of the period. Entries outside of it are not items. */
  readonly fromTime?: Part | undefined;
  readonly toTime?: Part | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly cursors: EventCursors;
  /** The SQL expression for the size of the large columns of the entry `q`, if it has any. */
  readonly largeColumnsBytes?: Part | undefined;
}

const SeqCursor = z.tuple([CursorSeq]);

/** Unencrypted cursors, for a stream whose readers may see all entries. */
export const unencryptedCursors: EventCursors = {
  encode: (seq) => encodeCursor([seq]),
  decode: (cursor) => decodeCursor(cursor, SeqCursor)[0],
};

/**
 * The maximum duration of a transaction. Entries carry the start time of their transaction, so times may
 * deviate from the order of numbers by this duration. Postgres cancels transactions much earlier.
 */
const maxTransactionDuration = sql.part`interval '1 minute'`;

/**
 * Returns SQL for the highest number up to which all entries are older than `moment`. The SQL is a binary
 * search with about twenty steps, independent of the length of the stream.
 */
const lastSeqBeforeSql = (table: Part, time: Part): Part => sql.part`(
  with recursive search (lo, hi) as (
    select 0::bigint, (select t.${table} from streams t where ${orgFilter('t')})
    union all
    select case when older then middle else lo end, case when older then hi else middle - 1 end
    from search
    cross join lateral (select (lo + hi + 1) / 2 as middle) m
    cross join lateral (select coalesce((select a.at < ${time} from ${table} a
      where ${orgFilter('a')} and a.seq <= m.middle order by a.seq desc limit 1), true) as older) a
    where lo < hi)
  select lo from search where lo >= hi limit 1)`;

/** Reads a page of a stream. */
export async function readStreamPage<From extends StreamTable, Item>(
  db: Db,
  pageParams: StreamPageParams<From>,
  toItem: (row: Selectable<DB[From]>) => Item,
): Promise<Page<Item>> {
  const { limit } = pageParams;
  const table = sql.word(pageParams.table);
  const before = pageParams.cursor === undefined ? undefined : pageParams.cursors.decode(pageParams.cursor);
  const bounds: Part[] = [];
  const where = [...pageParams.filterConditions];
  if (before !== undefined) bounds.push(sql.part`e.seq < ${before}::bigint`);
  if (pageParams.fromTime !== undefined) {
    bounds.push(
      sql.part`e.seq > ${lastSeqBeforeSql(table, sql.part`${pageParams.fromTime} - ${maxTransactionDuration}`)}`,
    );
    where.push(sql.part`e.at >= ${pageParams.fromTime}`);
  }
  if (pageParams.toTime !== undefined) {
    bounds.push(
      sql.part`e.seq <= ${lastSeqBeforeSql(table, sql.part`${pageParams.toTime} + ${maxTransactionDuration}`)}`,
    );
    where.push(sql.part`e.at <= ${pageParams.toTime}`);
  }
  const streams = pageParams.streamConditions.map(
    (
      stream,
    ) => sql.part`(select e.* from ${table} e where ${sql.join([orgFilter('e'), stream, ...bounds], ' and ')}
      order by e.seq desc limit ${sql.literal(maxScannedEntries)})`,
  );
  // All subqueries use the order of the index, so an entry is read only when the page needs it.
  const page = sql.part`select e.* from (select e.*, row_number() over (order by e.seq desc) as nth from (${sql.join(streams, ' union all ')}) e) e
    where e.nth = ${sql.literal(maxScannedEntries)} or (${sql.join([sql.part`e.nth < ${sql.literal(maxScannedEntries)}`, ...where], ' and ')})
    order by e.seq desc limit ${limit + 1}`;
  const rows = await db.all(
    sql<
      Selectable<DB[From]> & ScannedRow
    >`${pageParams.largeColumnsBytes === undefined ? page : limitToPageBytes(page, pageParams.largeColumnsBytes, sql.part`q.seq desc`)}`,
  );
  // The next page begins with the last scanned entry.
  const signpost = rows.find((row) => row.nth === maxScannedEntries);
  const found = rows.filter((row) => row.nth < maxScannedEntries);
  return pageOfRows(
    found,
    limit,
    (row): readonly [number] => [row.seq],
    toItem,
    signpost === undefined ? undefined : ([signpost.seq + 1] as const),
    ([seq]) => pageParams.cursors.encode(seq),
  );
}

/**
 * A scanned entry with its position in the scan. The entry at the last possible position is not an item. It
 * marks the start of the next page.
 */
interface ScannedRow {
  readonly seq: number;
  readonly nth: number;
}
