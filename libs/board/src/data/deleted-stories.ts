/**
 * Stories that were deleted in the last 30 days, with copies of their rows (functions/deleted-stories.sql). Only
 * these queries find them.
 */
import {
  CursorId,
  CursorTime,
  type Db,
  decodeCursor,
  type IdOrSql,
  orgFilter,
  type Page,
  pageOfRows,
  type Query,
  sql,
} from '@muster/driver';
import { type Actor, type DeletedStory, type ParamsOf, type StoryStatus } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { z } from 'zod';
import { assignRank, type LockedColumn, lockColumnEnd, selectFirstColumnOfStatus } from './ranks.ts';
import { removeParentFromChildren, toStoryKey } from './stories.ts';

/** The number of days for which a deleted story can be restored. The authorization check knows it, too. */
export const deletedStoryRetentionDays = 30;

/**
 * Copies the story with its records, and deletes them. An assignment can belong to several kinds of targets and has
 * no foreign key, so it is deleted explicitly. The story's children stay. The files of its attachments are kept for
 * a day longer than the copies.
 */
export const deleteStory = (storyId: string, actor: Actor): Query<unknown>[] => [
  sql`select app.keep_deleted_story(${storyId}, ${actor}::jsonb)`,
  removeParentFromChildren([storyId]),
  sql`delete from assignments where ${orgFilter()} and target_type = 'story' and target_id = ${storyId}`,
  sql`delete from stories where ${orgFilter()} and id = ${storyId}`,
  sql`select app.postpone_file_deletions(array(select (d.record ->> 'id')::uuid from deleted_records d
      where ${orgFilter('d')} and d.story_id = ${storyId} and d.kind = 'attachments'),
    now() + make_interval(days => ${sql.literal(deletedStoryRetentionDays + 1)}))`,
];

/** A deleted story with its former place on the board. */
export interface DeletedStoryRow {
  readonly id: string;
  readonly project_id: string;
  readonly status: StoryStatus;
  readonly column_id: string | null;
  readonly rank: string;
  /** True if another story has its number by now, which only an import can give it. */
  readonly is_number_taken: boolean;
}

/**
 * Locks the counters of its project, because restoring changes dependencies, and then the deleted story, so that only
 * one call restores it.
 */
export async function lockDeletedStory(db: Db, id: IdOrSql): Promise<DeletedStoryRow> {
  const [, story] = await Promise.all([
    db.find(
      sql`select k.project_id from project_counters k where ${orgFilter('k')} and k.project_id =
        (select d.project_id from deleted_stories d where ${orgFilter('d')} and d.id = ${id}) for no key update`,
    ),
    db.get(
      sql<DeletedStoryRow>`select d.id, d.project_id, r.record ->> 'status' as status, r.record ->> 'column_id' as column_id,
          r.record ->> 'rank' as rank,
          exists (select from stories s where ${orgFilter('s')} and s.project_id = d.project_id and s.number = d.number) as is_number_taken
        from deleted_stories d join deleted_records r on ${orgFilter('r')} and r.story_id = d.id and r.kind = 'stories'
        where ${orgFilter('d')} and d.id = ${id} for update of d`,
    ),
  ]);
  return story;
}

/** The place to which a story returns. The column is null for a canceled story. */
export interface RestoredPosition {
  readonly column: LockedColumn | null;
  readonly status: StoryStatus;
  readonly rank: string;
}

/**
 * Locks the column to which a deleted story returns, and finds its place: the former one, or the end of another column
 * if its own is archived.
 */
export async function lockRestoredPosition(db: Db, story: DeletedStoryRow): Promise<RestoredPosition> {
  const { project_id: projectId, column_id: formerColumn, status } = story;
  if (formerColumn === null) return { column: null, status, rank: story.rank };
  for (;;) {
    const { id: columnId } = await db.get(
      sql<{ id: string }>`select coalesce(
        (select c.id from board_columns c where ${orgFilter('c')} and c.id = ${formerColumn} and c.archived_at is null),
        ${selectFirstColumnOfStatus(projectId, status)}, ${selectFirstColumnOfStatus(projectId, 'backlog')}) as id`,
    );
    const [end, near] = await Promise.all([
      lockColumnEnd(db, projectId, { columnId }),
      db.one(
        sql<{ is_taken: boolean; upper: string | null }>`select
          exists (select from stories n where ${orgFilter('n')} and n.project_id = ${projectId} and n.column_id = ${columnId}
            and n.rank = ${story.rank}) as is_taken,
          (select n.rank from stories n where ${orgFilter('n')} and n.project_id = ${projectId} and n.column_id = ${columnId}
            and n.rank > ${story.rank} order by n.rank limit 1) as upper`,
      ),
    ]);
    // Another call archived the column before the lock.
    if (end === undefined) continue;
    const { column, last } = end;
    if (columnId === formerColumn && !near.is_taken)
      return { column, status: column.status, rank: story.rank };
    const bounds =
      columnId === formerColumn ? { lower: story.rank, upper: near.upper } : { lower: last, upper: null };
    return { column, status: column.status, rank: await assignRank(db, story, columnId, bounds) };
  }
}

/** Another story that changed because a story was restored. */
export interface RelatedStoryRow {
  readonly id: string;
  readonly project_id: string;
  readonly project_key: string;
  readonly number: number;
  readonly title: string;
  readonly field: string;
}

/** Restores the story into the place, and returns the other stories that changed. */
export const restoreStory = (
  db: Db,
  storyId: string,
  { column, status, rank }: RestoredPosition,
): Promise<RelatedStoryRow[]> =>
  db.all(
    sql<RelatedStoryRow>`select * from app.restore_story(${storyId}, ${column?.id ?? null}, ${status}, ${rank})`,
  );

const Cursor = z.tuple([CursorTime, CursorId]);

interface ListedRow {
  readonly id: string;
  readonly project_key: string;
  readonly number: number;
  readonly title: string;
  readonly deleted_by: Actor;
  readonly deleted_at: string;
  readonly restorable_until: string;
}

/** Lists the deleted stories of a project, the last deleted first. */
export async function listDeletedStories(
  db: Db,
  projectId: IdOrSql,
  { limit, cursor }: ParamsOf<BoardRegistry['stories']['listDeleted']>,
): Promise<Page<DeletedStory>> {
  const before = decodeCursor(cursor, Cursor);
  const kept = sql.part`make_interval(days => ${sql.literal(deletedStoryRetentionDays)})`;
  const rows = await db.all(
    sql<ListedRow>`select d.id, p.key as project_key, d.number, d.title, d.deleted_by, d.deleted_at, d.deleted_at + ${kept} as restorable_until
      from deleted_stories d join projects p on ${orgFilter('p')} and p.id = d.project_id
      where ${orgFilter('d')} and d.project_id = ${projectId} and d.deleted_at > now() - ${kept}
        ${before === undefined ? sql.empty : sql.part`and (d.deleted_at, d.id) < (${before[0]}::timestamptz, ${before[1]}::uuid)`}
      order by d.deleted_at desc, d.id desc limit ${limit + 1}`,
  );
  return pageOfRows(
    rows,
    limit,
    (row) => [row.deleted_at, row.id],
    (row) => ({
      id: row.id,
      key: toStoryKey(row),
      title: row.title,
      deletedBy: row.deleted_by,
      deletedAt: row.deleted_at,
      restorableUntil: row.restorable_until,
    }),
  );
}
