/** The stories table: one row, found, locked, written. Lists are in story-lists.ts, the board's order in ranks.ts. */
import { type Db, type DB, of, type Part, type Query, sql } from '@muster/database';
import { type CodeUnderReview, isUuid, type Story, type StorySummary, type Subject } from '@muster/registry';
import { notFound } from '@muster/runtime';
import { type Selectable } from 'kysely';

/** What a story's row is read with: the key needs the project's. */
export interface StorySummaryRow extends Omit<Selectable<DB['stories']>, 'org_id' | 'description'> {
  readonly project_key: string;
}

export interface StoryRow extends StorySummaryRow {
  readonly description: string;
}

export const summaryColumns = [
  'id',
  'project_id',
  'number',
  'title',
  'status',
  'column_id',
  'rank',
  'epic_id',
  'priority',
  'labels',
  'estimate',
  'blocked',
  'blocked_by',
  'spec_version',
  'git',
  'code',
  'upstream',
  'created_by',
  'completed_at',
  'created_at',
  'updated_at',
  'version',
] as const;

/** The key that people say, such as WEB-42. */
export const keyOf = (row: { readonly project_key: string; readonly number: number }): string =>
  `${row.project_key}-${row.number}`;

export const toStorySummary = (row: StorySummaryRow): StorySummary => ({
  id: row.id,
  key: keyOf(row),
  number: row.number,
  projectId: row.project_id,
  title: row.title,
  status: row.status,
  columnId: row.column_id,
  rank: row.rank,
  epicId: row.epic_id,
  priority: row.priority,
  labels: row.labels,
  estimate: row.estimate,
  blockedBy: row.blocked_by,
  blocked: row.blocked,
  specVersion: row.spec_version,
  git: row.git,
  upstream: row.upstream,
  createdBy: row.created_by,
  completedAt: row.completed_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

export const toStory = (row: StoryRow): Story => ({ ...toStorySummary(row), description: row.description });

/** The story as the subject of what happened to it. */
export const aboutStory = (
  story: Pick<StoryRow, 'id' | 'project_id' | 'project_key' | 'number' | 'title'>,
): Subject => ({
  type: 'story',
  id: story.id,
  key: keyOf(story),
  title: story.title,
  projectId: story.project_id,
});

/** A story's reference as the caller gave it, taken apart: an id, or a key in any case. */
export function parseStoryRef(ref: string): { id: string } | { projectKey: string; number: number } {
  if (isUuid(ref)) return { id: ref };
  const dash = ref.indexOf('-');
  return { projectKey: ref.slice(0, dash).toUpperCase(), number: Number(ref.slice(dash + 1)) };
}

const columns = sql.columns('s', summaryColumns);
const storyInProject = sql.part`stories s join projects p on p.org_id = s.org_id and p.id = s.project_id`;

/** The condition that a story `s` of a project `p` is the one that is meant. */
function isMeant(ref: string): Part {
  const parsed = parseStoryRef(ref);
  return 'id' in parsed
    ? sql.part`${of('s')} and s.id = ${parsed.id}`
    : sql.part`${of('p')} and p.key = ${parsed.projectKey} and ${of('s')} and s.number = ${parsed.number}`;
}

const lockStatement = (ref: string): Query<unknown> =>
  isUuid(ref)
    ? sql`select s.id from stories s where ${isMeant(ref)} for no key update`
    : sql`select s.id from ${storyInProject} where ${isMeant(ref)} for no key update of s`;

export const findStory = (db: Db, ref: string): Promise<StoryRow | undefined> =>
  db.find(
    sql<StoryRow>`select ${columns}, s.description, p.key as project_key from ${storyInProject} where ${isMeant(ref)}`,
  );

export async function getStory(db: Db, ref: string): Promise<StoryRow> {
  const story = await findStory(db, ref);
  if (story === undefined) throw notFound();
  return story;
}

/**
 * Locks the story against other writers until this transaction ends, and reads it. Two statements in one burst:
 * what a statement reads beside the row it waited for (here the blockers) is from before the wait.
 */
export async function lockStory(db: Db, ref: string): Promise<StoryRow> {
  const [, story] = await Promise.all([db.find(lockStatement(ref)), findStory(db, ref)]);
  if (story === undefined) throw notFound();
  return story;
}

/** Columns that change. */
export type StoryChanges = Partial<
  Omit<
    StoryRow,
    | 'id'
    | 'project_id'
    | 'project_key'
    | 'number'
    | 'created_by'
    | 'created_at'
    | 'updated_at'
    | 'version'
    | 'blocked_by'
  >
>;

/** The row after the changes: the next version, changed `at`. */
export const changedStory = (story: StoryRow, changes: StoryChanges, at: string): StoryRow => ({
  ...story,
  ...changes,
  updated_at: at,
  version: story.version + 1,
});

/** Writes these columns of a locked story as they are in the changed row. */
export function setStory(changed: StoryRow, columns: readonly (keyof StoryChanges)[]): Query<unknown> {
  const written = [...columns, 'updated_at', 'version'] as const;
  return sql`${sql.update('stories', written, changed)} where ${of()} and id = ${changed.id}`;
}

/** Writes what code of a locked story is under review. It is no edit of the story, so its version stays. */
export const setCode = (storyId: string, code: CodeUnderReview): Query<unknown> =>
  sql`update stories set code = ${code} where ${of()} and id = ${storyId}`;

const inserted = [...summaryColumns.filter((column) => column !== 'blocked_by'), 'description'] as const;

/** Writes a new story; its blockers have a table of their own. */
export const insertStory = (story: StoryRow): Query<unknown> => sql.insert('stories', inserted, story);

/** The story goes, and with it what hangs on it; an assignment hangs on several kinds of things, so by hand. */
export const deleteStory = (storyId: string): Query<unknown>[] => [
  sql`delete from assignments where ${of()} and target_type = 'story' and target_id = ${storyId}`,
  sql`delete from stories where ${of()} and id = ${storyId}`,
];
