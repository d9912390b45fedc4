/** The stories table: one row, found, locked, written. Lists are in story-lists.ts, the board's order in ranks.ts. */
import { type Db, type Id, of, type Query, record, type RowOf, sql } from '@muster/driver';
import {
  type CodeUnderReview,
  type Story,
  type StorySummary,
  type Subject,
  subjectOf,
} from '@muster/registry';

const ofSummary = {
  project_id: {},
  number: {},
  title: { set: true },
  status: {},
  column_id: {},
  rank: {},
  epic_id: { set: true, empty: null },
  priority: { set: true, empty: 'none' },
  labels: { set: true, empty: [] as string[] },
  estimate: { set: true, empty: null },
  blocked: { set: true, empty: null },
  // By its own table, story_blockers.
  blocked_by: { set: true, derived: true, empty: [] as string[] },
  spec_version: { initial: 0 },
  git: { initial: null },
  code: { initial: null, hidden: true },
  upstream: { initial: null },
  created_by: {},
  completed_at: {},
} as const;
export const storySummaries = record('stories', 's', ofSummary);
export const stories = record('stories', 's', { ...ofSummary, description: { set: true, empty: '' } });

/** What a story's row is read with: the key needs the project's. */
interface InProject {
  readonly project_key: string;
}
export type StorySummaryRow = RowOf<typeof storySummaries> & InProject;
export type StoryRow = RowOf<typeof stories> & InProject;

/** The key that people say, such as WEB-42. */
export const keyOf = (row: { readonly project_key: string; readonly number: number }): string =>
  `${row.project_key}-${row.number}`;

export const toStorySummary = (row: StorySummaryRow): StorySummary => ({
  ...storySummaries.shown(row),
  key: keyOf(row),
});
export const toStory = (row: StoryRow): Story => ({ ...stories.shown(row), key: keyOf(row) });

/** The story as the subject of what happened to it. */
export const aboutStory = (
  story: Pick<StoryRow, 'id' | 'project_id' | 'project_key' | 'number' | 'title'>,
): Subject => subjectOf('story', story, story.title, keyOf(story));

export const getStory = (db: Db, id: Id): Promise<StoryRow> =>
  db.get(
    sql<StoryRow>`select ${stories.list}, p.key as project_key
      from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id
      where ${of('s')} and s.id = ${id}`,
  );

/**
 * Locks the story against other writers until this transaction ends, and reads it. Two statements in one burst:
 * what a statement reads beside the row it waited for (here the blockers) is from before the wait.
 */
export async function lockStory(db: Db, id: Id): Promise<StoryRow> {
  const [, story] = await Promise.all([
    db.find(sql`select s.id from stories s where ${of('s')} and s.id = ${id} for no key update`),
    getStory(db, id),
  ]);
  return story;
}

/** Writes what code of a locked story is under review. It is no edit of the story, so its version stays. */
export const setCode = (storyId: string, code: CodeUnderReview): Query<unknown> =>
  sql`update stories set code = ${code} where ${of()} and id = ${storyId}`;

/** The story goes, and with it what hangs on it; an assignment hangs on several kinds of things, so by hand. */
export const deleteStory = (storyId: string): Query<unknown>[] => [
  sql`delete from assignments where ${of()} and target_type = 'story' and target_id = ${storyId}`,
  sql`delete from stories where ${of()} and id = ${storyId}`,
];
