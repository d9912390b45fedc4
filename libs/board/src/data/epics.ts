/** The epics table. */
import {
  CursorId,
  type Db,
  decodeCursor,
  type IdOrSql,
  orgFilter,
  pageOfRows,
  type Query,
  defineRecord,
  type RowOf,
  sql,
  limitToPageBytes,
} from '@muster/driver';
import { type Epic, type ParamsOf, type Subject, subjectOf } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { z } from 'zod';

export const epics = defineRecord('epics', 'e', {
  project_id: {},
  title: { set: true },
  description: { set: true, emptyValue: '' },
  color: { set: true, emptyValue: null },
  target_date: { set: true, emptyValue: null },
  status: { set: true, initial: 'open' },
  story_count: { derived: true, initial: 0, hidden: true },
  done_count: { derived: true, initial: 0, hidden: true },
});
export type EpicRow = RowOf<typeof epics>;

export const toEpic = (row: EpicRow): Epic => ({
  ...epics.shown(row),
  progress: { total: row.story_count, done: row.done_count },
});

/** Returns the epic as an event subject. */
export const toEpicEventSubject = (epic: Pick<EpicRow, 'id' | 'title' | 'project_id'>): Subject =>
  subjectOf('epic', epic, epic.title);

const Cursor = z.tuple([CursorId]);

/** Lists a page of a project's epics, oldest first. */
export async function listEpics(
  db: Db,
  projectId: IdOrSql,
  { status, limit, cursor }: ParamsOf<BoardRegistry['epics']['list']>,
): Promise<{ items: Epic[]; nextCursor: string | null }> {
  const where = [orgFilter('e'), sql.part`e.project_id = ${projectId}`];
  if (status !== undefined) where.push(sql.part`e.status = ${status}`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`e.id > ${after[0]}::uuid`);
  const rows = await db.all(
    sql<EpicRow>`${limitToPageBytes(
      sql.part`select ${epics.list} from epics e where ${sql.join(where, ' and ')} order by e.id limit ${limit + 1}`,
      sql.part`octet_length(q.description)`,
      sql.part`q.id`,
    )}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toEpic);
}

/**
 * Locks an epic for deletion, and its stories before it. The lock conflicts with the foreign key check of a
 * story that enters the epic. Such a story is counted after its check, so with a weaker lock the two
 * transactions would deadlock.
 */
export async function lockEpicWithStories(db: Db, epicId: string): Promise<EpicRow> {
  const [, epic] = await Promise.all([
    db.all(
      sql`select s.id from stories s where ${orgFilter('s')} and s.epic_id = ${epicId} order by s.id for no key update`,
    ),
    db.get(
      sql<EpicRow>`select ${epics.list} from epics e where ${orgFilter('e')} and e.id = ${epicId} for update`,
    ),
  ]);
  return epic;
}

/** Deletes an epic and its assignment. Its stories stay without an epic, by the foreign key. */
export const deleteEpic = (epicId: string): Query<unknown>[] => [
  sql`delete from assignments where ${orgFilter()} and target_type = 'epic' and target_id = ${epicId}`,
  sql`delete from epics where ${orgFilter()} and id = ${epicId}`,
];
