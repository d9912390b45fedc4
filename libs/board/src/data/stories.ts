/** The stories table: one row, found, locked, written. Lists are in story-lists.ts, the board's order in ranks.ts. */
import { type Db, type DB, type Param, type Query, query, sqlQuery, statement } from '@muster/database';
import { isUuid, type Story, type StorySummary, type Subject } from '@muster/registry';
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
  's.id',
  's.project_id',
  's.number',
  's.title',
  's.status',
  's.column_id',
  's.rank',
  's.epic_id',
  's.priority',
  's.labels',
  's.estimate',
  's.blocked',
  's.blocked_by',
  's.spec_version',
  's.git',
  's.upstream',
  's.created_by',
  's.completed_at',
  's.created_at',
  's.updated_at',
  's.version',
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

const storyInProject = query
  .selectFrom('stories as s')
  .innerJoin('projects as p', (join) =>
    join.onRef('p.org_id', '=', 's.org_id').onRef('p.id', '=', 's.project_id'),
  );

const wholeStory = storyInProject.select([...summaryColumns, 's.description', 'p.key as project_key']);

interface ById {
  orgId: string;
  id: string;
}
interface ByKey {
  orgId: string;
  projectKey: string;
  number: number;
}

const readById = statement((param: Param<ById>) =>
  wholeStory.where('s.org_id', '=', param('orgId')).where('s.id', '=', param('id')),
);
const readByKey = statement((param: Param<ByKey>) =>
  wholeStory
    .where('p.org_id', '=', param('orgId'))
    .where('p.key', '=', param('projectKey'))
    .where('s.org_id', '=', param('orgId'))
    .where('s.number', '=', param('number')),
);
const lockById = statement((param: Param<ById>) =>
  query
    .selectFrom('stories as s')
    .select('s.id')
    .where('s.org_id', '=', param('orgId'))
    .where('s.id', '=', param('id'))
    .forNoKeyUpdate(),
);
const lockByKey = statement((param: Param<ByKey>) =>
  storyInProject
    .select('s.id')
    .where('p.org_id', '=', param('orgId'))
    .where('p.key', '=', param('projectKey'))
    .where('s.org_id', '=', param('orgId'))
    .where('s.number', '=', param('number'))
    .forNoKeyUpdate('s'),
);

function readStory(orgId: string, ref: string): Query<StoryRow> {
  const parsed = parseStoryRef(ref);
  return 'id' in parsed ? readById({ orgId, ...parsed }) : readByKey({ orgId, ...parsed });
}

function lockStatement(orgId: string, ref: string): Query<{ id: string }> {
  const parsed = parseStoryRef(ref);
  return 'id' in parsed ? lockById({ orgId, ...parsed }) : lockByKey({ orgId, ...parsed });
}

export const findStory = (db: Db, orgId: string, ref: string): Promise<StoryRow | undefined> =>
  db.find(readStory(orgId, ref));

export async function getStory(db: Db, orgId: string, ref: string): Promise<StoryRow> {
  const story = await findStory(db, orgId, ref);
  if (story === undefined) throw notFound();
  return story;
}

/**
 * Locks the story against other writers until this transaction ends, and reads it. Two statements in one burst:
 * what a statement reads beside the row it waited for (here the blockers) is from before the wait.
 */
export async function lockStory(db: Db, orgId: string, ref: string): Promise<StoryRow> {
  const [, story] = await Promise.all([db.find(lockStatement(orgId, ref)), findStory(db, orgId, ref)]);
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
export function setStory(
  orgId: string,
  changed: StoryRow,
  columns: readonly (keyof StoryChanges)[],
): Query<unknown> {
  const written = [...columns, 'updated_at', 'version'] as const;
  const assignments = written.map((column, index) => `${column} = $${index + 3}`);
  return sqlQuery(`update stories set ${assignments.join(', ')} where org_id = $1 and id = $2`, [
    orgId,
    changed.id,
    ...written.map((column) => changed[column]),
  ]);
}

const insert = statement((param: Param<Omit<StoryRow, 'project_key' | 'blocked_by'> & { org_id: string }>) =>
  query.insertInto('stories').values({
    org_id: param('org_id'),
    id: param('id'),
    project_id: param('project_id'),
    number: param('number'),
    title: param('title'),
    description: param('description'),
    status: param('status'),
    column_id: param('column_id'),
    rank: param('rank'),
    epic_id: param('epic_id'),
    priority: param('priority'),
    labels: param('labels'),
    estimate: param('estimate'),
    blocked: param('blocked'),
    spec_version: param('spec_version'),
    git: param('git'),
    upstream: param('upstream'),
    created_by: param('created_by'),
    completed_at: param('completed_at'),
    created_at: param('created_at'),
    updated_at: param('updated_at'),
    version: param('version'),
  }),
);

/** Writes a new story; its blockers have a table of their own. */
export const insertStory = (orgId: string, story: StoryRow): Query<unknown> =>
  insert({ ...story, org_id: orgId });

/** The story goes, and with it what hangs on it; an assignment hangs on several kinds of things, so by hand. */
export const deleteStory = (orgId: string, storyId: string): Query<unknown>[] => [
  query
    .deleteFrom('assignments')
    .where('org_id', '=', orgId)
    .where('target_type', '=', 'story')
    .where('target_id', '=', storyId),
  query.deleteFrom('stories').where('org_id', '=', orgId).where('id', '=', storyId),
];
