/**
 * Reading the organization's two streams, newest first. Their numbers have no gaps and follow the order of commits,
 * so a page is a walk down from a number; what this file adds is that the walk is short whatever is asked for.
 */
import {
  CursorSeq,
  type DB,
  type Db,
  decodeCursor,
  encodeCursor,
  of,
  type Page,
  pageOfRows,
  type Part,
  sql,
  withinPage,
} from '@muster/driver';
import { type Selectable } from 'kysely';
import { z } from 'zod';
import { type EventCursors } from './event-cursors.ts';

/**
 * A page looks at so many entries at most. Filters that few entries pass would else read the stream to its end; so
 * such a page comes with fewer items than asked for, and its cursor goes on from where it stopped.
 */
export const mostLookedAt = 5_000;

type Table = 'activity' | 'audit';

interface Walk<From extends Table> {
  readonly table: From;
  /** The streams to walk down, as conditions on the entry `e` that an index answers in order of seq; several are merged. */
  readonly along: readonly Part[];
  /** What the items must be, as conditions on the entry `e`. */
  readonly where: readonly Part[];
  /** Expressions for times; an entry from before or after them is not an item. */
  readonly from?: Part | undefined;
  readonly to?: Part | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly cursors: EventCursors;
  /** SQL for what the large parts of the entry `q` measure, where it has any. */
  readonly bytes?: Part | undefined;
}

const SeqCursor = z.tuple([CursorSeq]);

/** Bare numbers, for a stream of which every reader may see all. */
export const bareCursors: EventCursors = {
  seal: (seq) => encodeCursor([seq]),
  open: (cursor) => decodeCursor(cursor, SeqCursor)[0],
};

/**
 * The entries of a transaction carry the time it began, so times follow the numbers but for the length of a
 * transaction, and Postgres cuts those off long before this.
 */
const longestTransaction = sql.part`interval '1 minute'`;

/**
 * SQL for the highest number that has nothing but entries from before the moment up to it: a binary search, some
 * twenty steps however long the stream is.
 */
const lastSeqBefore = (table: Part, moment: Part): Part => sql.part`(
  with recursive search (lo, hi) as (
    select 0::bigint, (select t.${table} from streams t where ${of('t')})
    union all
    select case when older then middle else lo end, case when older then hi else middle - 1 end
    from search
    cross join lateral (select (lo + hi + 1) / 2 as middle) m
    cross join lateral (select coalesce((select a.at < ${moment} from ${table} a
      where ${of('a')} and a.seq <= m.middle order by a.seq desc limit 1), true) as older) a
    where lo < hi)
  select lo from search where lo >= hi limit 1)`;

/** A page of a stream. */
export async function walkDown<From extends Table, Item>(
  db: Db,
  walk: Walk<From>,
  toItem: (row: Selectable<DB[From]>) => Item,
): Promise<Page<Item>> {
  const { limit } = walk;
  const table = sql.word(walk.table);
  const before = walk.cursor === undefined ? undefined : walk.cursors.open(walk.cursor);
  const bounds: Part[] = [];
  const where = [...walk.where];
  if (before !== undefined) bounds.push(sql.part`e.seq < ${before}::bigint`);
  if (walk.from !== undefined) {
    bounds.push(sql.part`e.seq > ${lastSeqBefore(table, sql.part`${walk.from} - ${longestTransaction}`)}`);
    where.push(sql.part`e.at >= ${walk.from}`);
  }
  if (walk.to !== undefined) {
    bounds.push(sql.part`e.seq <= ${lastSeqBefore(table, sql.part`${walk.to} + ${longestTransaction}`)}`);
    where.push(sql.part`e.at <= ${walk.to}`);
  }
  const streams = walk.along.map(
    (stream) => sql.part`(select e.* from ${table} e where ${sql.join([of('e'), stream, ...bounds], ' and ')}
      order by e.seq desc limit ${sql.literal(mostLookedAt)})`,
  );
  // Each entry is read only when the page needs it: everything here comes in the order of the index.
  const page = sql.part`select e.* from (select e.*, row_number() over (order by e.seq desc) as nth from (${sql.join(streams, ' union all ')}) e) e
    where e.nth = ${sql.literal(mostLookedAt)} or (${sql.join([sql.part`e.nth < ${sql.literal(mostLookedAt)}`, ...where], ' and ')})
    order by e.seq desc limit ${limit + 1}`;
  const rows = await db.all(
    sql<
      Selectable<DB[From]> & Step
    >`${walk.bytes === undefined ? page : withinPage(page, walk.bytes, sql.part`q.seq desc`)}`,
  );
  // The next page begins with the signpost.
  const signpost = rows.find((row) => row.nth === mostLookedAt);
  const found = rows.filter((row) => row.nth < mostLookedAt);
  return pageOfRows(
    found,
    limit,
    (row): readonly [number] => [row.seq],
    toItem,
    signpost === undefined ? undefined : ([signpost.seq + 1] as const),
    ([seq]) => walk.cursors.seal(seq),
  );
}

/** An entry looked at; the last one looked at is no item of the page, and comes along as its signpost. */
interface Step {
  readonly seq: number;
  readonly nth: number;
}
