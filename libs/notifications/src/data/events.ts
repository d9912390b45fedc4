/** The activity as a stream: all entries after a position, in commit order, oldest first. */
import { type Db, type DB, orgFilter, type Part, sql } from '@muster/driver';
import { type ActivityItem } from '@muster/contract';
import { type Caller } from '@muster/runtime';
import { projectIdSql } from '@muster/tenancy';
import { type Selectable } from 'kysely';
import { activityView as activityItems } from './activity.ts';
import { maxScannedEntries } from './streams.ts';
import { isVisibleSql, mayReadBudgetEventSql } from './visible.ts';

export interface ReadEventsParams {
  /** The sequence number after which to read; by default from the oldest stored entry. */
  readonly startAfter: number | 'latest' | undefined;
  readonly projectId: string | undefined;
  readonly kinds: readonly string[] | undefined;
  readonly limit: number;
}

export interface EventBatch {
  readonly items: readonly (ActivityItem & { readonly seq: number })[];
  /** The number of the last scanned entry, whether or not the caller may see it. */
  readonly scannedUpToSeq: number;
  /** The number before the oldest stored entry. */
  readonly seqBeforeOldest: number;
  /**
   * True if `from` is in the range of numbers that a failover lost. Entries that the client saw there no
   * longer exist.
   */
  readonly isPositionLost: boolean;
  /** The id of the requested project. */
  readonly resolvedProjectId: string | null;
}

interface ActivityStreamPosition {
  readonly stands: number;
  readonly kept_after: number;
  readonly lost_after: number | null;
  readonly lost_until: number | null;
  readonly project_known_as: string | null;
}

/**
 * An entry with its position in the scan. The entry at the last possible position is not an item. It marks
 * the start of the next scan.
 */
type ScannedEntry = Selectable<DB['activity']> & { readonly nth: number };
/**
 * A row of the result. If no entry matches, there is one row that contains only the last number of the
 * stream.
 */
type ScannedEventRow = ActivityStreamPosition & (ScannedEntry | { readonly seq: null });

/**
 * Reads the stream with one statement, so that entries and position belong to the same snapshot. It scans a
 * limited number of entries, and the next call continues there. So a caller who may see few entries costs no
 * more than one who sees all.
 */
export async function readEvents(
  db: Db,
  caller: Caller,
  { startAfter, projectId, kinds, limit }: ReadEventsParams,
): Promise<EventBatch> {
  const stream: Part[] = [orgFilter('e')];
  if (projectId !== undefined) stream.push(sql.part`e.project_id = (select p.project_known_as from place p)`);
  const where: Part[] = [sql.part`e.nth < ${sql.literal(maxScannedEntries)}`];
  if (kinds !== undefined) where.push(sql.part`e.kind = any (${kinds}::text[])`);
  if (projectId === undefined) where.push(isVisibleSql(caller, sql.part`e.project_id`));
  where.push(mayReadBudgetEventSql(caller));
  const project = projectId === undefined ? sql.part`null::uuid` : projectIdSql(projectId);
  const begin =
    startAfter === undefined
      ? sql.part`(select p.kept_after from place p)`
      : startAfter === 'latest'
        ? sql.part`(select p.stands from place p)`
        : sql.part`${startAfter}::bigint`;

  const rows = await db.all(
    // All subqueries use the order of the index, so an entry is read only when the page needs it.
    sql<ScannedEventRow>`with place as materialized (
         select s.activity as stands, s.lost_after, s.lost_until, ${project} as project_known_as,
           coalesce((select a.seq - 1 from activity a where ${orgFilter('a')} order by a.seq limit 1), s.activity) as kept_after
         from streams s where ${orgFilter('s')})
       select p.stands, p.kept_after, p.lost_after, p.lost_until, p.project_known_as, e.*
       from place p
       left join (
         select e.* from (select e.*, row_number() over (order by e.seq) as nth from (
           select e.* from activity e
           where ${sql.join(stream, ' and ')} and e.seq > ${begin} and e.seq <= (select p.stands from place p)
           order by e.seq limit ${sql.literal(maxScannedEntries)}) e) e
         where e.nth = ${sql.literal(maxScannedEntries)} or (${sql.join(where, ' and ')})
         order by e.seq limit ${limit}) e on true
       order by e.seq`,
  );
  const [place] = rows;
  if (place === undefined) throw new Error('the organization has no event stream');
  const looked = rows.filter((row): row is ActivityStreamPosition & ScannedEntry => row.seq !== null);
  const items = looked.filter(({ nth }) => nth < maxScannedEntries);
  const signpost = looked.find(({ nth }) => nth === maxScannedEntries);
  const last = items.at(-1);
  return {
    items: items.map((row) => ({ ...activityItems.shown(row), seq: row.seq })),
    // A full page continues after its last item. Otherwise the caller has seen everything that was scanned.
    scannedUpToSeq:
      items.length === limit && last !== undefined
        ? last.seq
        : signpost === undefined
          ? place.stands
          : signpost.seq - 1,
    seqBeforeOldest: place.kept_after,
    isPositionLost: typeof startAfter === 'number' && isInLostRange(startAfter, place),
    resolvedProjectId: place.project_known_as,
  };
}

const isInLostRange = (
  from: number,
  { lost_after: after, lost_until: until }: ActivityStreamPosition,
): boolean => after !== null && until !== null && from > after && from < until;
