/** Reads the files that stories are expected to change, and the files that their work changed. */
import { type Db, type IdOrSql, orgFilter, sql } from '@muster/driver';
import { storyIdsOfExecutionSql } from './targets.ts';

/**
 * Reads the touches of the stories of an execution. A story without touches may change any file, so the
 * result is empty if one of these stories has none.
 */
export async function readTouches(db: Db, executionId: string): Promise<string[]> {
  const rows = await db.all(
    sql<{ touches: string[] }>`select s.touches from stories s
       where ${orgFilter('s')} and s.id in (${storyIdsOfExecutionSql(executionId)})`,
  );
  return rows.some(({ touches }) => touches.length === 0)
    ? []
    : [...new Set(rows.flatMap(({ touches }) => touches))];
}

interface StoryFiles {
  readonly touches: string[];
  /** The files in the last checkpoint of the newest work on the story itself. */
  readonly files: string[];
  /** Files that similar merged stories changed, the most frequent first. Empty for a finished story. */
  readonly similarFiles: string[];
}

/** Similar stories are searched among the stories of the project that changed last. */
const maxRecentStories = sql.literal(500);
/** The most similar stories whose files are counted, and the most files that are read. */
const maxSimilarStories = sql.literal(50);
const maxSimilarFiles = sql.literal(50);

export const readStoryFiles = (db: Db, storyId: IdOrSql): Promise<StoryFiles> =>
  db.get(
    sql<StoryFiles>`select s.touches,
       array(select f.path from (select e.checkpoint from executions e
           where ${orgFilter('e')} and e.target_type = 'story' and e.target_id = s.id order by e.id desc limit 1) e
         cross join lateral jsonb_array_elements_text(e.checkpoint -> 'filesTouched') f(path)) as files,
       array(select f.path from (select o.id from (select r.* from stories r
             where ${orgFilter('r')} and r.project_id = s.project_id and s.completed_at is null
             order by r.updated_at desc, r.id desc limit ${maxRecentStories}) o
           where o.id <> s.id and o.completed_at is not null
             and (o.epic_id = s.epic_id or o.labels && s.labels) limit ${maxSimilarStories}) o
         cross join lateral (select e.checkpoint from executions e
           where ${orgFilter('e')} and e.target_type = 'story' and e.target_id = o.id
             and (e.merged_at is not null or e.outcome = 'succeeded')
           order by e.id desc limit 1) e
         cross join lateral jsonb_array_elements_text(e.checkpoint -> 'filesTouched') f(path)
         group by f.path order by count(*) desc, f.path limit ${maxSimilarFiles}) as "similarFiles"
     from stories s where ${orgFilter('s')} and s.id = ${storyId}`,
  );
