/** Reads and writes many stories of one project at a time, for plans. */
import {
  currentOrgId,
  type Db,
  estimateBytes,
  type IdOrSql,
  orgFilter,
  type Query,
  splitIntoPortions,
  sql,
} from '@muster/driver';
import { workTargetsSql } from '@muster/tenancy';
import { type StoryDependency } from '../rules/import-merge.ts';
import { type OpenStory } from '../rules/plan-graph.ts';
import { type EpicRow, epics } from './epics.ts';
import { hasSpec, type SpecRow } from './specs.ts';
import { stories, type StoryRow } from './stories.ts';

/** A locked story of a plan. */
export interface PlanStory extends StoryRow {
  /** True if work on the story, or on its open group, is not completed. */
  readonly is_worked_on: boolean;
  readonly has_spec: boolean;
  /** The SHA-256 of its spec; null without a spec. */
  readonly spec_hash: string | null;
}

/** Locks the existing stories among these IDs, ordered by ID. */
export async function lockPlanStories(db: Db, ids: readonly string[]): Promise<Map<string, PlanStory>> {
  if (ids.length === 0) return new Map();
  const [, rows] = await Promise.all([
    db.all(
      sql`select s.id from stories s where ${orgFilter('s')} and s.id = any (${ids}::uuid[]) order by s.id for no key update`,
    ),
    db.all(
      sql<PlanStory>`select ${stories.list}, p.key as project_key, ${hasSpec(sql.part`s`)} as has_spec,
           (select v.content_hash from story_specs v where ${orgFilter('v')} and v.story_id = s.id
             and v.version = s.spec_version) as spec_hash,
           exists (select from (${workTargetsSql(sql.part`s.id`)}) t
             join executions e on ${orgFilter('e')} and e.target_type = t.type and e.target_id = t.id
             where e.state <> 'completed') as is_worked_on
         from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id
         where ${orgFilter('s')} and s.id = any (${ids}::uuid[])`,
    ),
  ]);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Locks all epics of a project, ordered by ID, because their counts change with the stories. */
export async function lockProjectEpics(db: Db, projectId: IdOrSql): Promise<Map<string, EpicRow>> {
  const rows = await db.all(
    sql<EpicRow>`select ${epics.list} from epics e where ${orgFilter('e')} and e.project_id = ${projectId}
       order by e.id for no key update`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** An open story with its epic. */
interface OpenStoryRow extends OpenStory {
  readonly epicId: string | null;
}

/** Reads the open stories of a project in the order of the board. A join with the columns would take most of the time. */
export const findOpenStories = (db: Db, projectId: IdOrSql): Promise<OpenStoryRow[]> =>
  db.all(
    sql<OpenStoryRow>`select s.id, s.estimate, s.blocked_by as "blockerIds", s.parent_id as "parentId", s.epic_id as "epicId"
       from stories s
       where ${orgFilter('s')} and s.project_id = ${projectId} and s.completed_at is null
       order by array_position((select array_agg(c.id order by c.position, c.id) from board_columns c
         where ${orgFilter('c')} and c.project_id = ${projectId}), s.column_id), s.rank`,
  );

/** A story that has a parent or blockers. */
interface RelatedStory {
  readonly id: string;
  readonly parent_id: string | null;
  readonly blocked_by: readonly string[];
}

/**
 * Reads the stories of a project that have a parent or blockers, finished ones too. It reads one table, because
 * a join would take quadratic time before the table is analyzed.
 */
export const findRelatedStoriesInProject = (db: Db, projectId: IdOrSql): Promise<RelatedStory[]> =>
  db.all(
    sql<RelatedStory>`select s.id, s.parent_id, s.blocked_by from stories s
       where ${orgFilter('s')} and s.project_id = ${projectId} and (s.parent_id is not null or s.blocked_by <> '{}')`,
  );

/** Returns the keys of these stories by ID. */
export async function findStoryKeys(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.all(
    sql<{ id: string; key: string }>`select s.id, p.key || '-' || s.number as key
       from stories s join projects p on ${orgFilter('p')} and p.id = s.project_id
       where ${orgFilter('s')} and s.id = any (${ids}::uuid[])`,
  );
  return new Map(rows.map(({ id, key }) => [id, key]));
}

/** Writes the columns of locked stories that a plan can change. */
export const updateStories = (rows: readonly StoryRow[]): Query<unknown>[] =>
  splitIntoPortions(
    rows.map((row) => JSON.stringify(row)),
    estimateBytes,
  ).map(
    (
      portion,
    ) => sql`update stories s set title = r.title, description = r.description, status = r.status, column_id = r.column_id,
         rank = r.rank, epic_id = r.epic_id, parent_id = r.parent_id, touches = r.touches, priority = r.priority,
         labels = r.labels, estimate = r.estimate, due_date = r.due_date, spec_version = r.spec_version,
         completed_at = r.completed_at, updated_at = r.updated_at, version = r.version
       from jsonb_populate_recordset(null::stories, ${`[${portion.join()}]`}::jsonb) r
       where ${orgFilter('s')} and s.id = r.id`,
  );

/** Writes versions of specs. The caller updates the stories' spec_version. */
export const insertSpecVersions = (rows: readonly SpecRow[]): Query<unknown>[] =>
  splitIntoPortions(
    rows.map((row) => JSON.stringify(row)),
    estimateBytes,
  ).map(
    (
      portion,
    ) => sql`insert into story_specs (org_id, story_id, version, content, content_hash, lines_added, lines_removed, author, imported_by, imported_from, note, created_at)
       select ${currentOrgId}, r.story_id, r.version, r.content, r.content_hash, r.lines_added, r.lines_removed, r.author, r.imported_by, r.imported_from, r.note, r.created_at
       from jsonb_populate_recordset(null::story_specs, ${`[${portion.join()}]`}::jsonb) r`,
  );

export const deleteDependencies = (dependencies: readonly StoryDependency[]): Query<unknown> =>
  sql`delete from story_blockers b
     using unnest(${dependencies.map(({ storyId }) => storyId)}::uuid[], ${dependencies.map(({ blockerId }) => blockerId)}::uuid[]) w (story_id, blocker_id)
     where ${orgFilter('b')} and b.story_id = w.story_id and b.blocker_id = w.blocker_id`;
