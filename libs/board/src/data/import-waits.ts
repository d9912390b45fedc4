/** The dependencies between stories of an import. */
import { type Db, of, organization, type Query, sql } from '@muster/driver';
import { type StoryDependency } from '../rules/import-merge.ts';
import { type ImportRow } from './imports.ts';

export interface WantedWait {
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
export const findWanted = (db: Db, row: ImportRow): Promise<WantedWait[]> =>
  db.all(
    sql<WantedWait>`select i.external_id as "externalId", w.named as "blockedBy", s.id as "storyId", t.id as "blockerId"
       from import_items i
       join stories s on s.org_id = i.org_id and s.id = i.record_id
       cross join unnest(i.blocked_by) w (named)
       left join import_items b on b.org_id = i.org_id and b.project_id = i.project_id and b.provider = i.provider
         and b.kind = 'story' and b.external_id = w.named
       left join stories t on t.org_id = b.org_id and t.id = b.record_id
       where ${of('i')} and i.project_id = ${row.project_id} and i.provider = ${row.provider} and i.kind = 'story'
         and (i.import_id = ${row.id} or b.made_by = ${row.id})
       order by i.external_id, w.named`,
  );

/** Reads all dependencies in a project. */
export const findWaits = (db: Db, projectId: string): Promise<StoryDependency[]> =>
  db.all(
    sql<StoryDependency>`select b.story_id as "storyId", b.blocker_id as "blockerId" from story_blockers b
       join stories s on s.org_id = b.org_id and s.id = b.story_id
       where ${of('b')} and s.project_id = ${projectId}`,
  );

export const insertWaits = (projectId: string, waits: readonly StoryDependency[]): Query<unknown> =>
  sql`insert into story_blockers (org_id, project_id, story_id, blocker_id)
     select ${organization}, ${projectId}::uuid, w.story_id, w.blocker_id
     from unnest(${waits.map(({ storyId }) => storyId)}::uuid[], ${waits.map(({ blockerId }) => blockerId)}::uuid[]) w (story_id, blocker_id)
     order by w.story_id, w.blocker_id`;
