/** The epics table. */
import {
  type DB,
  type Db,
  decodeCursor,
  pageOfRows,
  type Param,
  type Query,
  query,
  sqlQuery,
  statement,
  Values,
} from '@muster/database';
import { type Epic, isUuid, type ParamsOf, type Registry, type Subject } from '@muster/registry';
import { notFound } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';

export type EpicRow = Omit<Selectable<DB['epics']>, 'org_id'>;

export const epicColumns =
  'e.id, e.project_id, e.title, e.description, e.color, e.target_date, e.status, e.story_count, e.done_count, e.created_at, e.updated_at, e.version';

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

const Cursor = z.tuple([z.string().refine(isUuid)]);

/** A page of the epics of a project, oldest first. */
export async function listEpics(
  db: Db,
  orgId: string,
  { projectId, status, limit, cursor }: ParamsOf<Registry['epics']['list']>,
): Promise<{ items: Epic[]; nextCursor: string | null }> {
  const values = new Values(orgId);
  const where = [`e.org_id = ${values.org}`, `e.project_id = ${values.projectId(projectId)}`];
  if (status !== undefined) where.push(`e.status = ${values.$(status)}`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(`e.id > ${values.uuid(after[0])}`);
  const rows = await db.all(
    sqlQuery<EpicRow>(
      `select ${epicColumns} from epics e where ${where.join(' and ')} order by e.id limit ${values.$(limit + 1)}`,
      values.list,
    ),
  );
  return pageOfRows(rows, limit, (row) => [row.id], toEpic);
}

export async function lockEpic(db: Db, orgId: string, epicId: string): Promise<EpicRow> {
  const row = await db.find(
    sqlQuery<EpicRow>(
      `select ${epicColumns} from epics e where e.org_id = $1 and e.id = $2 for no key update`,
      [orgId, epicId],
    ),
  );
  if (row === undefined) throw notFound();
  return row;
}

/** Locks the stories of an epic, before the epic itself is locked. */
export const lockStoriesOfEpic = (orgId: string, epicId: string): Query<unknown> =>
  sqlQuery(
    'select s.id from stories s where s.org_id = $1 and s.epic_id = $2 order by s.id for no key update',
    [orgId, epicId],
  );

export const insertEpics = (orgId: string, epics: readonly EpicRow[]): Query<unknown> =>
  sqlQuery(`insert into epics select e.* from jsonb_populate_recordset(null::epics, $1) e`, [
    JSON.stringify(epics.map((epic) => ({ ...epic, org_id: orgId }))),
  ]);

const updateEpic = statement((param: Param<EpicRow & { org_id: string }>) =>
  query
    .updateTable('epics')
    .set({
      title: param('title'),
      description: param('description'),
      color: param('color'),
      target_date: param('target_date'),
      status: param('status'),
      updated_at: param('updated_at'),
      version: param('version'),
    })
    .where('org_id', '=', param('org_id'))
    .where('id', '=', param('id')),
);

/** Writes a locked epic as it is now, but for what the stories count. */
export const setEpic = (orgId: string, epic: EpicRow): Query<unknown> =>
  updateEpic({ ...epic, org_id: orgId });

/** Removes an epic and who it was assigned to; its stories stay, without an epic, by the foreign key. */
export const deleteEpic = (orgId: string, epicId: string): Query<unknown>[] => [
  query
    .deleteFrom('assignments')
    .where('org_id', '=', orgId)
    .where('target_type', '=', 'epic')
    .where('target_id', '=', epicId),
  query.deleteFrom('epics').where('org_id', '=', orgId).where('id', '=', epicId),
];
