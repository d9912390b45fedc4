/** The dependencies between stories of an import. */
import { type Db, orgFilter, currentOrgId, type Query, sql } from '@muster/driver';
import { type StoryDependency } from '../rules/import-merge.ts';
import { type ImportRow } from './imports.ts';

export interface ImportedDependency {
  readonly externalId: string;
  readonly blockedBy: string;
  readonly storyId: string;
  /** The ID of the blocker's story; null if no story with the external ID `blockedBy` was imported. */
  readonly blockerId: string | null;
}

/**
 * Finds dependencies that this import may resolve: those of the items that it put last, and those of other
 * imports' items that wait for a story of this import.
 */
export const findResolvableDependencies = (db: Db, importRow: ImportRow): Promise<ImportedDependency[]> =>
  db.all(
    sql<ImportedDependency>`select i.external_id as "externalId", w.named as "blockedBy", s.id as "storyId", t.id as "blockerId"
       from import_items i
       join stories s on s.org_id = i.org_id and s.id = i.record_id
       cross join unnest(i.blocked_by) w (named)
       left join import_items b on b.org_id = i.org_id and b.project_id = i.project_id and b.provider = i.provider
         and b.kind = 'story' and b.external_id = w.named
       left join stories t on t.org_id = b.org_id and t.id = b.record_id
       where ${orgFilter('i')} and i.project_id = ${importRow.project_id} and i.provider = ${importRow.provider} and i.kind = 'story'
         and (i.import_id = ${importRow.id} or b.made_by = ${importRow.id})
       order by i.external_id, w.named`,
  );

/** Reads all dependencies in a project. */
export const findDependencies = (db: Db, projectId: string): Promise<StoryDependency[]> =>
  db.all(
    sql<StoryDependency>`select b.story_id as "storyId", b.blocker_id as "blockerId" from story_blockers b
       join stories s on s.org_id = b.org_id and s.id = b.story_id
       where ${orgFilter('b')} and s.project_id = ${projectId}`,
  );

export const insertDependencies = (
  projectId: string,
  dependencies: readonly StoryDependency[],
): Query<unknown> =>
  sql`insert into story_blockers (org_id, project_id, story_id, blocker_id)
     select ${currentOrgId}, ${projectId}::uuid, w.story_id, w.blocker_id
     from unnest(${dependencies.map(({ storyId }) => storyId)}::uuid[], ${dependencies.map(({ blockerId }) => blockerId)}::uuid[]) w (story_id, blocker_id)
     order by w.story_id, w.blocker_id`;
