/**
 * Reading the organization's two streams, newest first. Their numbers have no gaps and follow the order of commits,
 * so a page is a walk down from a number; what this file adds is that the walk is short whatever is asked for.
 */
import { type DB, type Db, decodeCursor, encodeCursor, sqlQuery, type Values } from '@muster/database';
import { type Selectable } from 'kysely';
import { z } from 'zod';

/**
 * A page looks at so many entries at most. Filters that few entries pass would else read the stream to its end; so
 * such a page comes with fewer items than asked for, and its cursor goes on from where it stopped.
 */
export const mostLookedAt = 5_000;

type Table = 'activity' | 'audit';

interface Walk<From extends Table> {
  readonly table: From;
  readonly values: Values;
  /** The streams to walk down, as conditions on the entry `e` that an index answers in order of seq; several are merged. */
  readonly along: readonly string[];
  /** What the items must be, as conditions on the entry `e`. */
  readonly where: readonly string[];
  /** Expressions for times; an entry from before or after them is not an item. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

const SeqCursor = z.tuple([z.int().min(1)]);

/**
 * The entries of a transaction carry the time it began, so times follow the numbers but for the length of a
 * transaction, and Postgres cuts those off long before this.
 */
const longestTransaction = `interval '1 minute'`;

/**
 * SQL for the highest number that has nothing but entries from before the moment up to it: a binary search, some
 * twenty steps however long the stream is.
 */
const lastSeqBefore = ({ table, values }: Walk<Table>, moment: string): string => `(
  with recursive search (lo, hi) as (
    select 0::bigint, (select t.${table} from streams t where t.org_id = ${values.org})
    union all
    select case when older then middle else lo end, case when older then hi else middle - 1 end
    from search
    cross join lateral (select (lo + hi + 1) / 2 as middle) m
    cross join lateral (select coalesce((select a.at < ${moment} from ${table} a
      where a.org_id = ${values.org} and a.seq <= m.middle order by a.seq desc limit 1), true) as older) a
    where lo < hi)
  select lo from search where lo >= hi limit 1)`;

/** A page of a stream, as rows of its table. */
export async function walkDown<From extends Table>(
  db: Db,
  walk: Walk<From>,
): Promise<{ rows: Selectable<DB[From]>[]; nextCursor: string | null }> {
  const { table, values, limit } = walk;
  const before = decodeCursor(walk.cursor, SeqCursor);
  const bounds: string[] = [];
  const where = [...walk.where];
  if (before !== undefined) bounds.push(`e.seq < ${values.$(before[0])}`);
  if (walk.from !== undefined) {
    bounds.push(`e.seq > ${lastSeqBefore(walk, `${walk.from} - ${longestTransaction}`)}`);
    where.push(`e.at >= ${walk.from}`);
  }
  if (walk.to !== undefined) {
    bounds.push(`e.seq <= ${lastSeqBefore(walk, `${walk.to} + ${longestTransaction}`)}`);
    where.push(`e.at <= ${walk.to}`);
  }
  const streams = walk.along.map((stream) => {
    const conditions = [`e.org_id = ${values.org}`, stream, ...bounds].join(' and ');
    return `(select e.* from ${table} e where ${conditions} order by e.seq desc limit ${mostLookedAt})`;
  });
  // Each entry is read only when the page needs it: everything here comes in the order of the index.
  const rows = await db.all(
    sqlQuery<Selectable<DB[From]> & Step>(
      `select e.* from (select e.*, row_number() over (order by e.seq desc) as nth from (${streams.join(' union all ')}) e) e
       where e.nth = ${mostLookedAt} or (${[`e.nth < ${mostLookedAt}`, ...where].join(' and ')})
       order by e.seq desc limit ${values.$(limit + 1)}`,
      values.list,
    ),
  );
  const items = rows.filter((row) => row.nth < mostLookedAt);
  const last = items[limit - 1];
  if (items.length > limit && last !== undefined)
    return { rows: items.slice(0, limit), nextCursor: encodeCursor([last.seq]) };
  // The next page begins with the signpost.
  const signpost = rows.find((row) => row.nth === mostLookedAt);
  return { rows: items, nextCursor: signpost === undefined ? null : encodeCursor([signpost.seq + 1]) };
}

/** An entry looked at; the last one looked at is no item of the page, and comes along as its signpost. */
interface Step {
  readonly seq: number;
  readonly nth: number;
}
