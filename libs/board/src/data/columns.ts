/** The board_columns table. Who changes the shape of a board locks it whole; who moves a story, only its columns. */
import {
  type DB,
  type Db,
  decodeCursor,
  newId,
  pageOfRows,
  type Param,
  type Query,
  query,
  sqlQuery,
  statement,
  Values,
} from '@muster/database';
import {
  type BoardColumn,
  isUuid,
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

const columnColumns =
  'c.id, c.project_id, c.name, c.status, c.position, c.wip_limit, c.story_count, c.archived_at, c.created_at, c.updated_at, c.version';

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
const Cursor = z.tuple([
  z.iso.datetime({ precision: 3 }).or(z.literal('')),
  z.int32().min(0),
  z.string().refine(isUuid),
]);

/** A page of the columns of a board from left to right; those taken off it come last. */
export async function listColumns(
  db: Db,
  orgId: string,
  { projectId, includeArchived, limit, cursor }: ParamsOf<Registry['boardColumns']['list']>,
): Promise<ResultOf<Registry['boardColumns']['list']>> {
  const values = new Values(orgId);
  const where = [`c.org_id = ${values.org}`, `c.project_id = ${values.projectId(projectId)}`];
  if (!includeArchived) where.push('c.archived_at is null');
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) {
    const [archivedAt, position, id] = after;
    const place = `${values.$(position)}::int, ${values.uuid(id)}`;
    where.push(
      archivedAt === ''
        ? `(c.archived_at is not null or (c.position, c.id) > (${place}))`
        : `(c.archived_at, c.position, c.id) > (${values.instant(archivedAt)}, ${place})`,
    );
  }
  const rows = await db.all(
    sqlQuery<ColumnRow>(
      `select ${columnColumns} from board_columns c where ${where.join(' and ')}
       order by c.archived_at nulls first, c.position, c.id limit ${values.$(limit + 1)}`,
      values.list,
    ),
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
  orgId: string,
  projectRef: string,
): Promise<{ columns: ColumnRow[]; counts: Record<StoryStatus, number> }> {
  const values = new Values(orgId);
  const rows = await db.all(
    sqlQuery<ColumnRow & { canceled_stories: number }>(
      `select ${columnColumns}, k.canceled_stories from project_counters k
       join board_columns c on c.org_id = k.org_id and c.project_id = k.project_id and c.archived_at is null
       where k.org_id = ${values.org} and k.project_id = ${values.projectId(projectRef)}
       order by c.position, c.id`,
      values.list,
    ),
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
export async function lockBoard(db: Db, orgId: string, board: BoardRef): Promise<Board> {
  const values = new Values(orgId);
  const project =
    'projectId' in board
      ? values.projectId(board.projectId)
      : `(select o.project_id from board_columns o where o.org_id = ${values.org} and o.id = ${values.uuid(board.columnId)})`;
  const [counters, columns] = await Promise.all([
    db.find(
      sqlQuery<{ project_id: string; canceled_stories: number }>(
        `select k.project_id, k.canceled_stories from project_counters k
         where k.org_id = ${values.org} and k.project_id = ${project} for no key update`,
        values.list,
      ),
    ),
    db.all(
      sqlQuery<ColumnRow>(
        `select ${columnColumns} from board_columns c
         where c.org_id = ${values.org} and c.project_id = ${project} order by c.id for no key update`,
        values.list,
      ),
    ),
  ]);
  if (counters === undefined) throw notFound();
  return { projectId: counters.project_id, columns, canceledStories: counters.canceled_stories };
}

export async function lockColumn(db: Db, orgId: string, columnId: string): Promise<ColumnRow> {
  const row = await db.find(
    sqlQuery<ColumnRow>(
      `select ${columnColumns} from board_columns c where c.org_id = $1 and c.id = $2 for no key update`,
      [orgId, columnId],
    ),
  );
  if (row === undefined) throw notFound();
  return row;
}

const updateColumn = statement((param: Param<ColumnRow & { org_id: string }>) =>
  query
    .updateTable('board_columns')
    .set({
      name: param('name'),
      wip_limit: param('wip_limit'),
      archived_at: param('archived_at'),
      updated_at: param('updated_at'),
      version: param('version'),
    })
    .where('org_id', '=', param('org_id'))
    .where('id', '=', param('id')),
);

/** Writes a locked column as it is now, but for its position and its count: see setPositions and addStoryCount. */
export const setColumn = (orgId: string, column: ColumnRow): Query<unknown> =>
  updateColumn({ ...column, org_id: orgId });

/** Counts so many stories more in a locked column. */
export const addStoryCount = (orgId: string, columnId: string, count: number): Query<unknown> =>
  sqlQuery('update board_columns set story_count = story_count + $3 where org_id = $1 and id = $2', [
    orgId,
    columnId,
    count,
  ]);

/** Writes the positions of locked columns that stand elsewhere now. */
export const setPositions = (orgId: string, moved: readonly ColumnRow[], at: string): Query<unknown> =>
  sqlQuery(
    `update board_columns c set position = m.position, updated_at = $2, version = c.version + 1
     from unnest($3::uuid[], $4::int[]) m (id, position) where c.org_id = $1 and c.id = m.id`,
    [orgId, at, moved.map(({ id }) => id), moved.map(({ position }) => position)],
  );

export const insertColumns = (orgId: string, columns: readonly ColumnRow[]): Query<unknown> =>
  query.insertInto('board_columns').values(columns.map((column) => ({ ...column, org_id: orgId })));
