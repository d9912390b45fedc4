/**
 * Finds places on the board. A column's row is locked before a place in it is read, so that no other call
 * finds the same place. Reads that are pipelined behind the lock see the state after its wait.
 */
import { type Db, type DB, type Id, of, type Part, sql } from '@muster/driver';
import { type StoryStatus } from '@muster/registry';
import { storyIdOf } from '@muster/tenancy';
import { type Selectable } from 'kysely';
import { longestRank, rankAfresh, rankBetween } from '../rules/ranks.ts';
import { lockCounters } from './project-counters.ts';
import { findReviews, noReviews, type Reviews } from './reviews.ts';
import { hasSpec } from './specs.ts';
import { lockStory, type StoryRow } from './stories.ts';
import { findUnfinished, type Unfinished } from './unfinished.ts';

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
}

const lockedColumn = sql.part`c.id, c.status, c.wip_limit, c.story_count, c.archived_at`;

/** Returns SQL for the ID of the default column of a status. */
export const firstColumn = (project: Id, status: string): Part =>
  sql.part`(select f.id from board_columns f where ${of('f')} and f.project_id = ${project}
    and f.status = ${status} and f.archived_at is null order by f.position, f.id limit 1)`;

/** Returns SQL for the first rank of a column that matches `where`, in this order. */
const nearest = (project: Id, column: Part, where: Part, order: 'asc' | 'desc'): Part =>
  sql.part`(select n.rank from stories n where ${of('n')} and n.project_id = ${project}
    and n.column_id = ${column} and ${where} order by n.rank ${sql.word(order)} limit 1)`;

/**
 * Locks a column for a new story, and reads the last rank in it; undefined if there is no such active column.
 */
export async function lockEnd(
  db: Db,
  projectId: Id,
  wanted: { readonly columnId: string } | { readonly status: StoryStatus },
): Promise<{ column: LockedColumn; last: string | null } | undefined> {
  const target =
    'columnId' in wanted ? sql.part`${wanted.columnId}::uuid` : firstColumn(projectId, wanted.status);
  const lock = sql<LockedColumn>`select ${lockedColumn} from board_columns c
    where ${of('c')} and c.project_id = ${projectId} and c.id = ${target} for no key update`;
  const end = sql<{
    id: string | null;
    last: string | null;
  }>`select t.id, ${nearest(projectId, sql.part`t.id`, sql.part`true`, 'desc')} as last
    from (select ${target} as id) t`;
  for (;;) {
    const [column, found] = await Promise.all([db.find(lock), db.one(end)]);
    if (column !== undefined && column.id === found.id) {
      return column.archived_at === null ? { column, last: found.last } : undefined;
    }
    if (column === undefined && ('columnId' in wanted || found.id === null)) return undefined;
    // Another call changed the board during the wait, and the default column is now a different one.
  }
}

/** A locked story that is moving, with the locked columns that it leaves and may enter. */
export interface Move {
  readonly story: StoryRow;
  readonly columns: readonly LockedColumn[];
  readonly place: RankPosition;
  /**
   * The reviews, read only for a possible move to done. They are read after the story was locked, as calls
   * that change them also lock it.
   */
  readonly reviews: Reviews;
  /** The unfinished work, read under the same conditions as the reviews. */
  readonly unfinished: Unfinished | undefined;
}

/**
 * Locks the rows that a move changes, in the common order: the project's counters (which count canceled
 * stories), the columns by ID, the story. Then finds the place. Returns undefined if another call moved the
 * story or its anchor, or changed the board, during the wait. The story's column is then not among the locked
 * ones, and locking it now would break the lock order.
 */
export async function tryLockMove(db: Db, storyId: Id, to: MoveDestination): Promise<Move | undefined> {
  const isCounted = to.status === 'canceled' ? sql.part`true` : sql.part`s.status = 'canceled'`;
  const [held, columns, story, place, reviews, unfinished] = await Promise.all([
    db.find(lockCounters(storyId, isCounted)),
    db.all(columnsLockOf(storyId, to)),
    lockStory(db, storyId),
    db.find(to.anchor === undefined ? endPlace(storyId, to) : anchoredPlace(storyId, to.anchor)),
    mayFinish(to) ? findReviews(db, storyId) : noReviews,
    mayFinish(to) ? findUnfinished(db, storyId) : undefined,
  ]);
  const found = place ?? { column_id: null, lower: null, upper: null, anchor_id: null, has_spec: false };
  const isLocked = (id: string | null): boolean => id === null || columns.some((column) => column.id === id);
  const leaves = story.status === 'canceled' ? held !== undefined : isLocked(story.column_id);
  if (!leaves || (found.column_id !== to.columnId && !isLocked(found.column_id))) return undefined;
  return { story, columns, place: found, reviews, unfinished };
}

/**
 * Repeats `tryLockMove` until it succeeds. Each attempt first rolls back to a savepoint and so releases its
 * locks, because further locks would break the lock order.
 */
export async function lockMove(db: Db, storyId: Id, to: MoveDestination): Promise<Move> {
  for (let tries = 0; ; tries += 1) {
    const [, move] = await Promise.all([
      db.find(tries === 0 ? sql`savepoint move` : sql`rollback to savepoint move`),
      tryLockMove(db, storyId, to),
    ]);
    if (move !== undefined) return move;
  }
}

/** Reports whether the move may end in done. */
const mayFinish = ({ status, columnId, anchor }: MoveDestination): boolean =>
  status === undefined ? columnId !== undefined || anchor !== undefined : status === 'done';

/** Locks the column that the story leaves and those that it may enter. */
function columnsLockOf(storyId: Id, to: MoveDestination) {
  const moved = storyColumn(storyId);
  const among = [sql.part`(select m.column_id from moved m)`];
  if (to.columnId !== undefined) among.push(sql.part`${to.columnId}::uuid`);
  else if (to.status !== undefined)
    among.push(firstColumn(sql.part`(select m.project_id from moved m)`, to.status));
  if (to.anchor !== undefined) {
    among.push(
      sql.part`(select a.column_id from stories a where ${of('a')} and a.id = ${storyIdOf(to.anchor.ref)})`,
    );
  }
  return sql<LockedColumn>`with moved as (${moved})
     select ${lockedColumn} from board_columns c
     where ${of('c')} and c.project_id = (select m.project_id from moved m)
       and c.id = any (array[${sql.join(among)}]) order by c.id for no key update`;
}

const storyColumn = (storyId: Id): Part =>
  sql.part`select m.id, m.project_id, m.column_id, m.spec_version from stories m where ${of('m')} and m.id = ${storyId}`;

/** Returns SQL for the place after all other stories of the column. */
function endPlace(storyId: Id, to: MoveDestination) {
  let column = sql.part`m.column_id`;
  if (to.columnId !== undefined) column = sql.part`${to.columnId}::uuid`;
  else if (to.status !== undefined) column = firstColumn(sql.part`m.project_id`, to.status);
  return sql<RankPosition>`select t.column_id, ${nearest(sql.part`t.project_id`, sql.part`t.column_id`, sql.part`n.id <> t.id`, 'desc')} as lower,
       null as upper, null as anchor_id, ${hasSpec(sql.part`t`)} as has_spec
     from (select m.id, m.project_id, m.spec_version, ${column} as column_id from (${storyColumn(storyId)}) m) t`;
}

/** Returns SQL for the place right before or after another story of the same project. */
function anchoredPlace(storyId: Id, anchor: NonNullable<MoveDestination['anchor']>) {
  const isBefore = anchor.side === 'before';
  const next = nearest(
    sql.part`a.project_id`,
    sql.part`a.column_id`,
    isBefore ? sql.part`n.rank < a.rank and n.id <> m.id` : sql.part`n.rank > a.rank and n.id <> m.id`,
    isBefore ? 'desc' : 'asc',
  );
  const own = sql.part`a.rank`;
  const [lower, upper] = isBefore ? [next, own] : [own, next];
  return sql<RankPosition>`select a.column_id, ${lower} as lower, ${upper} as upper, a.id as anchor_id,
       ${hasSpec(sql.part`m`)} as has_spec
     from (${storyColumn(storyId)}) m
     join stories a on ${of('a')} and a.project_id = m.project_id and a.id = ${storyIdOf(anchor.ref)}`;
}

/**
 * Returns a rank for the story at a place of a locked column. If the rank would be too long, the whole column
 * gets new ranks.
 */
export async function rankAt(
  db: Db,
  story: StoryRow,
  columnId: string,
  place: RankPosition,
): Promise<string> {
  const rank = rankBetween(place.lower, place.upper);
  if (rank.length <= longestRank) return rank;
  const column = await db.all(
    sql<{
      id: string;
      rank: string;
    }>`select id, rank from stories where ${of()} and project_id = ${story.project_id} and column_id = ${columnId} order by id for no key update`,
  );
  const { own, others } = rankAfresh(column, story.id, place.lower);
  db.later(
    sql`update stories s set rank = r.rank from unnest(${others.map(({ id }) => id)}::uuid[], ${others.map((other) => other.rank)}::text[]) r (id, rank)
       where ${of('s')} and s.project_id = ${story.project_id} and s.id = r.id`,
  );
  return own;
}
