/** The epics table. */
import {
  CursorId,
  type DB,
  type Db,
  decodeCursor,
  of,
  organization,
  pageOfRows,
  projectIdOf,
  type Query,
  sql,
  withinPage,
} from '@muster/database';
import { type Epic, type ParamsOf, type Registry, type Subject } from '@muster/registry';
import { notFound } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';

export type EpicRow = Omit<Selectable<DB['epics']>, 'org_id'>;

export const epicColumns = sql.part`e.id, e.project_id, e.title, e.description, e.color, e.target_date, e.status, e.story_count, e.done_count, e.created_at, e.updated_at, e.version`;

export const toEpic = (row: EpicRow): Epic => ({
  id: row.id,
  projectId: row.project_id,
  title: row.title,
  description: row.description,
  color: row.color,
  targetDate: row.target_date,
  status: row.status,
  progress: { total: row.story_count, done: row.done_count },
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

/** The epic as the subject of what happened to it. */
export const aboutEpic = (epic: Pick<EpicRow, 'id' | 'title' | 'project_id'>): Subject => ({
  type: 'epic',
  id: epic.id,
  key: null,
  title: epic.title,
  projectId: epic.project_id,
});

const Cursor = z.tuple([CursorId]);

/** A page of the epics of a project, oldest first. */
export async function listEpics(
  db: Db,
  { projectId, status, limit, cursor }: ParamsOf<Registry['epics']['list']>,
): Promise<{ items: Epic[]; nextCursor: string | null }> {
  const where = [of('e'), sql.part`e.project_id = ${projectIdOf(projectId)}`];
  if (status !== undefined) where.push(sql.part`e.status = ${status}`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`e.id > ${after[0]}::uuid`);
  const rows = await db.all(
    sql<EpicRow>`${withinPage(
      sql.part`select ${epicColumns} from epics e where ${sql.join(where, ' and ')} order by e.id limit ${limit + 1}`,
      sql.part`octet_length(q.description)`,
      sql.part`q.id`,
    )}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toEpic);
}

export async function lockEpic(db: Db, epicId: string): Promise<EpicRow> {
  const row = await db.find(
    sql<EpicRow>`select ${epicColumns} from epics e where ${of('e')} and e.id = ${epicId} for no key update`,
  );
  if (row === undefined) throw notFound();
  return row;
}

/** Locks the stories of an epic, before the epic itself is locked. */
export const lockStoriesOfEpic = (epicId: string): Query<unknown> =>
  sql`select s.id from stories s where ${of('s')} and s.epic_id = ${epicId} order by s.id for no key update`;

export const insertEpics = (epics: readonly EpicRow[]): Query<unknown> =>
  sql`insert into epics select e.* from jsonb_populate_recordset(
    jsonb_populate_record(null::epics, jsonb_build_object('org_id', ${organization}::uuid)), ${JSON.stringify(epics)}) e`;

/** Writes a locked epic as it is now, but for what the stories count. */
export const setEpic = (epic: EpicRow): Query<unknown> =>
  sql`update epics set title = ${epic.title}, description = ${epic.description}, color = ${epic.color}, target_date = ${epic.target_date}, status = ${epic.status}, updated_at = ${epic.updated_at}, version = ${epic.version} where ${of()} and id = ${epic.id}`;

/** Removes an epic and who it was assigned to; its stories stay, without an epic, by the foreign key. */
export const deleteEpic = (epicId: string): Query<unknown>[] => [
  sql`delete from assignments where ${of()} and target_type = 'epic' and target_id = ${epicId}`,
  sql`delete from epics where ${of()} and id = ${epicId}`,
];
