/**
 * The stories table: find, lock and write one row. story-lists.ts has lists, and ranks.ts the order of the
 * board.
 */
import { type Db, type IdOrSql, orgFilter, type Query, defineRecord, type RowOf, sql } from '@muster/driver';
import {
  type CodeUnderReview,
  type Story,
  type StorySummary,
  type Subject,
  subjectOf,
} from '@muster/contract';

const storySummaryColumns = {
  project_id: {},
  number: {},
  title: { set: true },
  status: {},
  column_id: {},
  rank: {},
  epic_id: { set: true, emptyValue: null },
  parent_id: { set: true, emptyValue: null },
  priority: { set: true, emptyValue: 'none' },
  labels: { set: true, emptyValue: [] as string[] },
  estimate: { set: true, emptyValue: null },
  due_date: { set: true, emptyValue: null },
  touches: { set: true, emptyValue: [] as string[] },
  blocked: { set: true, emptyValue: null },
  // The IDs of the blockers are stored in a table of their own, story_blockers.
  blocked_by: { set: true, derived: true, emptyValue: [] as string[] },
  spec_version: { initial: 0 },
  git: { initial: null },
  code: { initial: null, hidden: true },
  upstream: { initial: null },
  created_by: {},
  imported_by: { initial: null },
  imported_from: { initial: null },
  completed_at: {},
} as const;
export const storySummaries = defineRecord('stories', 's', storySummaryColumns);
export const stories = defineRecord('stories', 's', {
  ...storySummaryColumns,
  description: { set: true, emptyValue: '' },
});

/** The project's key, which is read with a story because the story's key contains it. */
interface WithProjectKey {
  readonly project_key: string;
}
export type StorySummaryRow = RowOf<typeof storySummaries> & WithProjectKey;
export type StoryRow = RowOf<typeof stories> & WithProjectKey;

/** Returns the key that people use, such as WEB-42. */
export const toStoryKey = (row: { readonly project_key: string; readonly number: number }): string =>
  `${row.project_key}-${row.number}`;

export const toStorySummary = (row: StorySummaryRow): StorySummary => ({
  ...storySummaries.shown(row),
  key: toStoryKey(row),
});
export const toStory = (row: StoryRow): Story => ({ ...stories.shown(row), key: toStoryKey(row) });

/** Returns the story as an event subject. */
export const toStoryEventSubject = (
  story: Pick<StoryRow, 'id' | 'project_id' | 'project_key' | 'number' | 'title'>,
): Subject => subjectOf('story', story, story.title, toStoryKey(story));

export const getStory = (db: Db, id: IdOrSql): Promise<StoryRow> =>
  db.get(
    sql<StoryRow>`select ${stories.list}, p.key as project_key
      from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id
      where ${orgFilter('s')} and s.id = ${id}`,
  );

/**
 * Locks the story against other writers until this transaction ends, and reads it. It pipelines two
 * statements, because a statement that waits for a row reads all other rows (here the blockers) as they were
 * before the wait.
 */
export async function lockStory(db: Db, id: IdOrSql): Promise<StoryRow> {
  const [, story] = await Promise.all([
    db.find(sql`select s.id from stories s where ${orgFilter('s')} and s.id = ${id} for no key update`),
    getStory(db, id),
  ]);
  return story;
}

/**
 * Writes the code under review of a locked story. The version stays, because this is not an edit of the
 * story.
 */
export const setCodeUnderReview = (storyId: string, code: CodeUnderReview): Query<unknown> =>
  sql`update stories set code = ${code} where ${orgFilter()} and id = ${storyId}`;

/** Removes the parent of the children of these stories, before the stories are deleted. */
export const removeParentFromChildren = (parentIds: readonly string[]): Query<unknown> =>
  sql`update stories set parent_id = null, version = version + 1, updated_at = now()
     where ${orgFilter()} and parent_id = any (${parentIds}::uuid[])`;
