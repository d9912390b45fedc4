/**
 * Finds places on the board. A column's row is locked before a place in it is read, so that no other call
 * finds the same place. Reads that are pipelined behind the lock see the state after its wait.
 */
import { type Db, type DB, type IdOrSql, orgFilter, type Part, sql } from '@muster/driver';
import { type StoryStatus } from '@muster/contract';
import { storyIdSql } from '@muster/tenancy';
import { type Selectable } from 'kysely';
import { maxRankLength, rerankColumn, rankBetween } from '../rules/ranks.ts';
import { lockProjectCounters } from './project-counters.ts';
import { findReviews, noReviews, type Reviews } from './reviews.ts';
import { hasSpec } from './specs.ts';
import { lockStory, type StoryRow } from './stories.ts';
import { findUnfinishedWork, type UnfinishedWork } from './unfinished.ts';

export type LockedColumn = Pick<
  Selectable<DB['board_columns']>,
  'id' | 'status' | 'wip_limit' | 'story_count' | 'archived_at'
>;

/**
 * The destination of a move. If no field is set, the destination is the end of the story's current column.
 */
export interface MoveDestination {
  readonly columnId?: string | undefined;
  /** The first column of this status is the destination if no column is given. */
  readonly status?: StoryStatus | undefined;
  readonly anchor?: { readonly ref: string; readonly side: 'before' | 'after' } | undefined;
  /** True if the story may leave its parent, which may then be closed. */
  readonly leavesParent?: boolean;
}

/** A place in a column between the ranks of two neighbors; null if there is no neighbor on that side. */
export interface RankPosition {
  /**
   * The ID of the destination column. Null if the column or the anchor does not exist, or if the anchor is in
   * no column.
   */
  readonly column_id: string | null;
  readonly lower: string | null;
  readonly upper: string | null;
  readonly anchor_id: string | null;
  /** True if the spec of the story to move has content. */
  readonly has_spec: boolean;
  /** The columns that change if the move closes the story's parent; null if it cannot. */
  readonly parent_columns: readonly (string | null)[] | null;
}

/** The place of a move whose destination does not exist. */
const noPosition: RankPosition = {
  ...{ column_id: null, lower: null, upper: null, anchor_id: null, has_spec: false, parent_columns: null },
};

const lockedColumnFields = sql.part`c.id, c.status, c.wip_limit, c.story_count, c.archived_at`;

/** Returns SQL for the ID of the default column of a status. */
export const selectFirstColumnOfStatus = (project: IdOrSql, status: string): Part =>
  sql.part`(select f.id from board_columns f where ${orgFilter('f')} and f.project_id = ${project}
    and f.status = ${status} and f.archived_at is null order by f.position, f.id limit 1)`;

/**
 * Returns SQL that selects the first rank, in the given sort order, among the column's rows that match
 * `where`.
 */
const selectFirstRank = (project: IdOrSql, column: Part, where: Part, order: 'asc' | 'desc'): Part =>
  sql.part`(select n.rank from stories n where ${orgFilter('n')} and n.project_id = ${project}
    and n.column_id = ${column} and ${where} order by n.rank ${sql.word(order)} limit 1)`;

/**
 * Locks a column for a new story, and reads the last rank in it; undefined if there is no such active column.
 */
export async function lockColumnEnd(
  db: Db,
  projectId: IdOrSql,
  columnOrStatus: { readonly columnId: string } | { readonly status: StoryStatus },
): Promise<{ column: LockedColumn; last: string | null } | undefined> {
  const target =
    'columnId' in columnOrStatus
      ? sql.part`${columnOrStatus.columnId}::uuid`
      : selectFirstColumnOfStatus(projectId, columnOrStatus.status);
  const lock = sql<LockedColumn>`select ${lockedColumnFields} from board_columns c
    where ${orgFilter('c')} and c.project_id = ${projectId} and c.id = ${target} for no key update`;
  const end = sql<{
    id: string | null;
    last: string | null;
  }>`select t.id, ${selectFirstRank(projectId, sql.part`t.id`, sql.part`true`, 'desc')} as last
    from (select ${target} as id) t`;
  for (;;) {
    const [column, found] = await Promise.all([db.find(lock), db.one(end)]);
    if (column !== undefined && column.id === found.id)
      return column.archived_at === null ? { column, last: found.last } : undefined;
    if (column === undefined && ('columnId' in columnOrStatus || found.id === null)) return undefined;
    // Another call changed the board during the wait, and the default column is now a different one.
  }
}

/**
 * A locked story that is being moved, with the locked columns: the one that it leaves and its possible
 * destinations.
 */
export interface LockedMove {
  readonly story: StoryRow;
  readonly columns: readonly LockedColumn[];
  readonly position: RankPosition;
  /**
   * The reviews, read only for a possible move to done. They are read after the story was locked, as calls
   * that change them also lock it.
   */
  readonly reviews: Reviews;
  /** The unfinished work, read under the same conditions as the reviews. */
  readonly unfinishedWork: UnfinishedWork | undefined;
}

/**
 * Locks the rows that a move changes, in the common order: the project's counters (which count canceled
 * stories), the columns by ID, the story. The columns include those of a parent that the move may close. Then
 * finds the place. Returns undefined if another call moved the story, its parent or its anchor, or changed the
 * board, during the wait. A column of the move is then not among the locked ones, and locking it now would
 * break the lock order.
 */
export async function tryLockMove(
  db: Db,
  storyId: IdOrSql,
  destination: MoveDestination,
): Promise<LockedMove | undefined> {
  const isCounted = destination.status === 'canceled' ? sql.part`true` : sql.part`s.status = 'canceled'`;
  const [held, columns, story, place, reviews, unfinished] = await Promise.all([
    db.find(lockProjectCounters(storyId, isCounted)),
    db.all(lockAffectedColumns(storyId, destination)),
    lockStory(db, storyId),
    db.find(
      destination.anchor === undefined
        ? selectEndPosition(storyId, destination)
        : selectAnchoredPosition(storyId, destination.anchor),
    ),
    mayEndInDone(destination) ? findReviews(db, storyId) : noReviews,
    mayEndInDone(destination) ? findUnfinishedWork(db, storyId) : undefined,
  ]);
  const found = place ?? noPosition;
  const isLocked = (id: string | null): boolean => id === null || columns.some((column) => column.id === id);
  const leaves = story.status === 'canceled' ? held !== undefined : isLocked(story.column_id);
  if (!leaves || (found.column_id !== destination.columnId && !isLocked(found.column_id))) return undefined;
  const isFinishing =
    destination.status === 'canceled' ||
    columns.some(({ id, status }) => id === found.column_id && status === 'done');
  const mayClose = story.completed_at === null && (isFinishing || destination.leavesParent === true);
  if (mayClose && found.parent_columns?.every(isLocked) === false) return undefined;
  return { story, columns, position: found, reviews, unfinishedWork: unfinished };
}

/**
 * Repeats `tryLockMove` until it succeeds. Each attempt first rolls back to a savepoint and so releases its
 * locks, because further locks would break the lock order.
 */
export async function lockMove(db: Db, storyId: IdOrSql, destination: MoveDestination): Promise<LockedMove> {
  for (let tries = 0; ; tries += 1) {
    const [, move] = await Promise.all([
      db.find(tries === 0 ? sql`savepoint move` : sql`rollback to savepoint move`),
      tryLockMove(db, storyId, destination),
    ]);
    if (move !== undefined) return move;
  }
}

/**
 * Reports whether the move may set the status to done. The status of a column or anchor is not known yet, so
 * it may be done.
 */
const mayEndInDone = ({ status, columnId, anchor }: MoveDestination): boolean =>
  status === undefined ? columnId !== undefined || anchor !== undefined : status === 'done';

/** Reports whether the story may be finished by the move, or leave its parent, so that the parent may be closed. */
const mayCloseParent = (destination: MoveDestination): boolean =>
  destination.leavesParent === true || destination.status === 'canceled' || mayEndInDone(destination);

/**
 * Returns SQL for the columns that change when an open parent is closed: its own and the first one of status
 * done. It is null for a finished parent, or without one.
 */
const selectParentColumns = (parentId: Part): Part =>
  sql.part`(select array[o.column_id, ${selectFirstColumnOfStatus(sql.part`o.project_id`, 'done')}]
    from stories o where ${orgFilter('o')} and o.id = ${parentId} and o.completed_at is null)`;

/**
 * Locks the column that the story leaves, its possible destinations, and the columns of a parent that the move
 * may close.
 */
function lockAffectedColumns(storyId: IdOrSql, destination: MoveDestination) {
  const moved = selectStoryColumn(storyId);
  const among = [sql.part`(select m.column_id from moved m)`];
  if (destination.columnId !== undefined) among.push(sql.part`${destination.columnId}::uuid`);
  else if (destination.status !== undefined)
    among.push(selectFirstColumnOfStatus(sql.part`(select m.project_id from moved m)`, destination.status));
  if (destination.anchor !== undefined)
    among.push(
      sql.part`(select a.column_id from stories a where ${orgFilter('a')} and a.id = ${storyIdSql(destination.anchor.ref)})`,
    );
  let parentColumns = sql.part`null::uuid[]`;
  if (mayCloseParent(destination)) {
    const isOpenChild = sql.part`m.parent_id is not null and m.completed_at is null`;
    const isKnown = destination.leavesParent === true || destination.status !== undefined;
    const finishes = isKnown
      ? sql.part`true`
      : sql.part`exists (select from board_columns d where ${orgFilter('d')} and d.id = any (array[${sql.join(among.slice(1))}]) and d.status = 'done')`;
    parentColumns = selectParentColumns(
      sql.part`(select m.parent_id from moved m where ${isOpenChild} and ${finishes})`,
    );
  }
  return sql<LockedColumn>`with moved as (${moved})
     select ${lockedColumnFields} from board_columns c
     where ${orgFilter('c')} and c.project_id = (select m.project_id from moved m)
       and c.id = any (array[${sql.join(among)}] || ${parentColumns}) order by c.id for no key update`;
}

const selectStoryColumn = (storyId: IdOrSql): Part =>
  sql.part`select m.id, m.project_id, m.column_id, m.spec_version, m.parent_id, m.completed_at from stories m where ${orgFilter('m')} and m.id = ${storyId}`;

/** Returns SQL for the place after all other stories of the column. */
function selectEndPosition(storyId: IdOrSql, destination: MoveDestination) {
  let column = sql.part`m.column_id`;
  if (destination.columnId !== undefined) column = sql.part`${destination.columnId}::uuid`;
  else if (destination.status !== undefined)
    column = selectFirstColumnOfStatus(sql.part`m.project_id`, destination.status);
  return sql<RankPosition>`select t.column_id, ${selectFirstRank(sql.part`t.project_id`, sql.part`t.column_id`, sql.part`n.id <> t.id`, 'desc')} as lower,
       null as upper, null as anchor_id, ${hasSpec(sql.part`t`)} as has_spec,
       ${mayCloseParent(destination) ? selectParentColumns(sql.part`t.parent_id`) : sql.part`null::uuid[]`} as parent_columns
     from (select m.id, m.project_id, m.spec_version, m.parent_id, ${column} as column_id from (${selectStoryColumn(storyId)}) m) t`;
}

/** Returns SQL for the place right before or after another story of the same project. */
function selectAnchoredPosition(storyId: IdOrSql, anchor: NonNullable<MoveDestination['anchor']>) {
  const isBefore = anchor.side === 'before';
  const next = selectFirstRank(
    sql.part`a.project_id`,
    sql.part`a.column_id`,
    isBefore ? sql.part`n.rank < a.rank and n.id <> m.id` : sql.part`n.rank > a.rank and n.id <> m.id`,
    isBefore ? 'desc' : 'asc',
  );
  const own = sql.part`a.rank`;
  const [lower, upper] = isBefore ? [next, own] : [own, next];
  return sql<RankPosition>`select a.column_id, ${lower} as lower, ${upper} as upper, a.id as anchor_id,
       ${hasSpec(sql.part`m`)} as has_spec, ${selectParentColumns(sql.part`m.parent_id`)} as parent_columns
     from (${selectStoryColumn(storyId)}) m
     join stories a on ${orgFilter('a')} and a.project_id = m.project_id and a.id = ${storyIdSql(anchor.ref)}`;
}

/**
 * Returns a rank for the story at a place of a locked column. If the rank would be too long, the whole column
 * gets new ranks.
 */
export async function assignRank(
  db: Db,
  story: Pick<StoryRow, 'id' | 'project_id'>,
  columnId: string,
  position: Pick<RankPosition, 'lower' | 'upper'>,
): Promise<string> {
  const rank = rankBetween(position.lower, position.upper);
  if (rank.length <= maxRankLength) return rank;
  const column = await db.all(
    sql<{
      id: string;
      rank: string;
    }>`select id, rank from stories where ${orgFilter()} and project_id = ${story.project_id} and column_id = ${columnId} order by id for no key update`,
  );
  const { ownRank: own, otherRanks: others } = rerankColumn(column, story.id, position.lower);
  db.deferToCommit(
    sql`update stories s set rank = r.rank from unnest(${others.map(({ id }) => id)}::uuid[], ${others.map((other) => other.rank)}::text[]) r (id, rank)
       where ${orgFilter('s')} and s.project_id = ${story.project_id} and s.id = r.id`,
  );
  return own;
}
