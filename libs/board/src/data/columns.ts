/**
 * The board_columns table. A call that changes a board's shape locks all columns; a move of a story locks
 * only those it affects.
 */
import {
  CursorCount,
  CursorId,
  CursorTime,
  type Db,
  decodeCursor,
  type IdOrSql,
  orgFilter,
  pageOfRows,
  type Query,
  defineRecord,
  type RowOf,
  sql,
} from '@muster/driver';
import {
  type BoardColumn,
  type ParamsOf,
  type ResultOf,
  type StoryStatus,
  type Subject,
  subjectOf,
} from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { z } from 'zod';
import { countsByStatus } from '../rules/columns.ts';

export const boardColumns = defineRecord('board_columns', 'c', {
  project_id: {},
  name: { set: true },
  status: {},
  position: {},
  wip_limit: { set: true, emptyValue: null },
  story_count: { initial: 0, hidden: true },
  archived_at: { initial: null },
});
export type ColumnRow = RowOf<typeof boardColumns>;
export const toColumn: (row: ColumnRow) => BoardColumn = boardColumns.shown;

/** Returns the column as an event subject. */
export const toColumnEventSubject = (column: Pick<ColumnRow, 'id' | 'name' | 'project_id'>): Subject =>
  subjectOf('column', column, column.name);

/** The time of archiving ('' for an active column), the position, and the ID. */
const Cursor = z.tuple([CursorTime.or(z.literal('')), CursorCount, CursorId]);

/** Lists a page of a board's columns from left to right, with archived ones last. */
export async function listColumns(
  db: Db,
  projectId: IdOrSql,
  { includeArchived, limit, cursor }: ParamsOf<BoardRegistry['boardColumns']['list']>,
): Promise<ResultOf<BoardRegistry['boardColumns']['list']>> {
  const where = [orgFilter('c'), sql.part`c.project_id = ${projectId}`];
  if (!includeArchived) where.push(sql.part`c.archived_at is null`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) {
    const [archivedAt, position, id] = after;
    const place = sql.part`${position}::int, ${id}::uuid`;
    where.push(
      archivedAt === ''
        ? sql.part`(c.archived_at is not null or (c.position, c.id) > (${place}))`
        : sql.part`(c.archived_at, c.position, c.id) > (${archivedAt}::timestamptz, ${place})`,
    );
  }
  const rows = await db.all(
    sql<ColumnRow>`select ${boardColumns.list} from board_columns c where ${sql.join(where, ' and ')}
       order by c.archived_at nulls first, c.position, c.id limit ${limit + 1}`,
  );
  return pageOfRows(
    rows,
    limit,
    (row) => [row.archived_at ?? '', row.position, row.id],
    (row) => ({ ...toColumn(row), storyCount: row.story_count }),
  );
}

/**
 * Reads the active columns and the counts of the board in one statement, so that a moving story is not
 * counted twice.
 */
export async function getBoard(
  db: Db,
  projectId: IdOrSql,
): Promise<{ columns: ColumnRow[]; counts: Record<StoryStatus, number> }> {
  const rows = await db.all(
    sql<
      ColumnRow & { canceled_stories: number }
    >`select ${boardColumns.list}, k.canceled_stories from project_counters k
       join board_columns c on c.org_id = k.org_id and c.project_id = k.project_id and c.archived_at is null
       where ${orgFilter('k')} and k.project_id = ${projectId}
       order by c.position, c.id`,
  );
  return { columns: rows, counts: countsByStatus(rows, rows[0]?.canceled_stories ?? 0) };
}

/** A reference to a board: by its project, or by one of its columns. */
export type BoardRef = { readonly projectId: IdOrSql } | { readonly columnId: string };

/** A board whose rows are locked until the transaction ends. */
export interface Board {
  readonly projectId: string;
  /** All columns, including archived ones. */
  readonly columns: readonly ColumnRow[];
  readonly canceledStories: number;
}

/**
 * Locks a board against changes of its shape and of the content of its columns. The project's counters are
 * locked first, because every call that makes such a change locks them. The columns are read after the wait
 * for the counters, so they include columns added during the wait.
 */
export async function lockBoard(db: Db, board: BoardRef): Promise<Board> {
  const project =
    'projectId' in board
      ? board.projectId
      : sql.part`(select o.project_id from board_columns o where ${orgFilter('o')} and o.id = ${board.columnId}::uuid)`;
  const [counters, columns] = await Promise.all([
    db.get(
      sql<{
        project_id: string;
        canceled_stories: number;
      }>`select k.project_id, k.canceled_stories from project_counters k
         where ${orgFilter('k')} and k.project_id = ${project} for no key update`,
    ),
    db.all(
      sql<ColumnRow>`select ${boardColumns.list} from board_columns c
         where ${orgFilter('c')} and c.project_id = ${project} order by c.id for no key update`,
    ),
  ]);
  return { projectId: counters.project_id, columns, canceledStories: counters.canceled_stories };
}

/** Adds to the story count of a locked column. */
export const addStoryCount = (columnId: string, count: number): Query<unknown> =>
  sql`update board_columns set story_count = story_count + ${count} where ${orgFilter()} and id = ${columnId}`;

/** Writes the changed positions of locked columns. */
export const setColumnPositions = (movedColumns: readonly ColumnRow[], movedAt: string): Query<unknown> =>
  sql`update board_columns c set position = m.position, updated_at = ${movedAt}, version = c.version + 1
     from unnest(${movedColumns.map(({ id }) => id)}::uuid[], ${movedColumns.map(({ position }) => position)}::int[]) m (id, position) where ${orgFilter('c')} and c.id = m.id`;
