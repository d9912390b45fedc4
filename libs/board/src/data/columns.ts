/** The board_columns table. Who changes the shape of a board locks it whole; who moves a story, only its columns. */
import {
  CursorCount,
  CursorId,
  CursorTime,
  type DB,
  type Db,
  decodeCursor,
  newId,
  of,
  pageOfRows,
  projectIdOf,
  type Query,
  sql,
} from '@muster/database';
import {
  type BoardColumn,
  type ParamsOf,
  type Registry,
  type ResultOf,
  type StoryStatus,
  type Subject,
} from '@muster/registry';
import { notFound } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';
import { type ColumnPlan, countsByStatus } from '../rules/columns.ts';

export type ColumnRow = Omit<Selectable<DB['board_columns']>, 'org_id'>;

const columnColumns = sql.part`c.id, c.project_id, c.name, c.status, c.position, c.wip_limit, c.story_count, c.archived_at, c.created_at, c.updated_at, c.version`;

export const toColumn = (row: ColumnRow): BoardColumn => ({
  id: row.id,
  projectId: row.project_id,
  name: row.name,
  status: row.status,
  position: row.position,
  wipLimit: row.wip_limit,
  archivedAt: row.archived_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

/** The column as the subject of what happened to it. */
export const aboutColumn = (column: Pick<ColumnRow, 'id' | 'name' | 'project_id'>): Subject => ({
  type: 'column',
  id: column.id,
  key: null,
  title: column.name,
  projectId: column.project_id,
});

/** A column that nobody has put anything in yet. */
export const newColumn = (projectId: string, plan: ColumnPlan, position: number, at: string): ColumnRow => ({
  id: newId(),
  project_id: projectId,
  name: plan.name,
  status: plan.status,
  position,
  wip_limit: plan.wipLimit ?? null,
  story_count: 0,
  archived_at: null,
  created_at: at,
  updated_at: at,
  version: 1,
});

/** The column after the changes: the next version, changed `at`. */
export const changedColumn = (column: ColumnRow, changes: Partial<ColumnRow>, at: string): ColumnRow => ({
  ...column,
  ...changes,
  updated_at: at,
  version: column.version + 1,
});

/** When it was taken off the board ('' for one that is on it), its position, its id. */
const Cursor = z.tuple([CursorTime.or(z.literal('')), CursorCount, CursorId]);

/** A page of the columns of a board from left to right; those taken off it come last. */
export async function listColumns(
  db: Db,
  { projectId, includeArchived, limit, cursor }: ParamsOf<Registry['boardColumns']['list']>,
): Promise<ResultOf<Registry['boardColumns']['list']>> {
  const where = [of('c'), sql.part`c.project_id = ${projectIdOf(projectId)}`];
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
    sql<ColumnRow>`select ${columnColumns} from board_columns c where ${sql.join(where, ' and ')}
       order by c.archived_at nulls first, c.position, c.id limit ${limit + 1}`,
  );
  return pageOfRows(
    rows,
    limit,
    (row) => [row.archived_at ?? '', row.position, row.id],
    (row) => ({ ...toColumn(row), storyCount: row.story_count }),
  );
}

/** The active columns and the counts of the whole board, by one statement: so no story on its way counts twice. */
export async function getBoard(
  db: Db,
  projectRef: string,
): Promise<{ columns: ColumnRow[]; counts: Record<StoryStatus, number> }> {
  const rows = await db.all(
    sql<
      ColumnRow & { canceled_stories: number }
    >`select ${columnColumns}, k.canceled_stories from project_counters k
       join board_columns c on c.org_id = k.org_id and c.project_id = k.project_id and c.archived_at is null
       where ${of('k')} and k.project_id = ${projectIdOf(projectRef)}
       order by c.position, c.id`,
  );
  return { columns: rows, counts: countsByStatus(rows, rows[0]?.canceled_stories ?? 0) };
}

/** Which board is meant: the project's own, or that of one of its columns. */
export type BoardRef = { readonly projectId: string } | { readonly columnId: string };

/** A locked board. */
export interface Board {
  readonly projectId: string;
  /** All of them, with those taken off it. */
  readonly columns: readonly ColumnRow[];
  readonly canceledStories: number;
}

/**
 * Locks a board against whoever would change its shape, or what is in its columns. The counters go first: they are
 * what such calls wait at, so what is read here is from after the wait, and has a column that was added meanwhile.
 */
export async function lockBoard(db: Db, board: BoardRef): Promise<Board> {
  const project =
    'projectId' in board
      ? projectIdOf(board.projectId)
      : sql.part`(select o.project_id from board_columns o where ${of('o')} and o.id = ${board.columnId}::uuid)`;
  const [counters, columns] = await Promise.all([
    db.find(
      sql<{
        project_id: string;
        canceled_stories: number;
      }>`select k.project_id, k.canceled_stories from project_counters k
         where ${of('k')} and k.project_id = ${project} for no key update`,
    ),
    db.all(
      sql<ColumnRow>`select ${columnColumns} from board_columns c
         where ${of('c')} and c.project_id = ${project} order by c.id for no key update`,
    ),
  ]);
  if (counters === undefined) throw notFound();
  return { projectId: counters.project_id, columns, canceledStories: counters.canceled_stories };
}

export async function lockColumn(db: Db, columnId: string): Promise<ColumnRow> {
  const row = await db.find(
    sql<ColumnRow>`select ${columnColumns} from board_columns c where ${of('c')} and c.id = ${columnId} for no key update`,
  );
  if (row === undefined) throw notFound();
  return row;
}

/** Writes a locked column as it is now, but for its position and its count: see setPositions and addStoryCount. */
export const setColumn = (column: ColumnRow): Query<unknown> =>
  sql`update board_columns set name = ${column.name}, wip_limit = ${column.wip_limit}, archived_at = ${column.archived_at}, updated_at = ${column.updated_at}, version = ${column.version} where ${of()} and id = ${column.id}`;

/** Counts so many stories more in a locked column. */
export const addStoryCount = (columnId: string, count: number): Query<unknown> =>
  sql`update board_columns set story_count = story_count + ${count} where ${of()} and id = ${columnId}`;

/** Writes the positions of locked columns that stand elsewhere now. */
export const setPositions = (moved: readonly ColumnRow[], at: string): Query<unknown> =>
  sql`update board_columns c set position = m.position, updated_at = ${at}, version = c.version + 1
     from unnest(${moved.map(({ id }) => id)}::uuid[], ${moved.map(({ position }) => position)}::int[]) m (id, position) where ${of('c')} and c.id = m.id`;

const inserted = [
  'id',
  'project_id',
  'name',
  'status',
  'position',
  'wip_limit',
  'story_count',
  'archived_at',
  'created_at',
  'updated_at',
  'version',
] as const;

export const insertColumns = (columns: readonly ColumnRow[]): Query<unknown> =>
  sql.insert('board_columns', inserted, columns);
