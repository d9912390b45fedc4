/** Reads the locks and work of others near a story. */
import { type Db, type IdOrSql, orgFilter, type Part, type Query, sql } from '@muster/driver';
import { type Actor } from '@muster/contract';
import { literalPrefixSql } from './literal-prefix.ts';
import { isLiveLockSql, lockColumnList, type LockRow } from './locks.ts';
import { isOpenSql, isInProgressSql } from '../leases/states-sql.ts';

/**
 * The maximum numbers of locks and of executions that are read of a project. The answer says if there are
 * more.
 */
const maxLocks = 200;
const maxExecutions = 100;
/**
 * The maximum number of collisions in an answer: about two per file that the story's own work may have
 * touched.
 */
export const maxCollisions = 200;

export interface NearbyLock extends LockRow {
  /** True if the lock was taken for the story or for the work on it. */
  readonly own: boolean;
}

/** Other work of the project that is in progress or waits for its merge. */
export interface NearbyWork {
  readonly executionId: string;
  readonly storyId: string | null;
  /** The current holder; null without one. */
  readonly holder: Actor | null;
  /** The files that the story's own work or locks may cover. */
  readonly files: readonly string[];
}

export interface WorkNearStory {
  readonly locks: readonly NearbyLock[];
  readonly hasMoreLocks: boolean;
  /** The files in the last checkpoint of the story's work or of its group's. */
  readonly ownFiles: readonly string[];
  readonly otherWork: readonly NearbyWork[];
  readonly hasMoreWork: boolean;
}

/** Returns SQL for the story, its project, and the open work on it: its own and its group's. */
const storyAndOpenWorkSql = (storyId: IdOrSql): Part => sql.part`
  story as materialized (select s.id, s.project_id from stories s
    where ${orgFilter('s')} and s.id = ${storyId}),
  own as materialized (select e.id, e.checkpoint from story s join executions e
    on ${orgFilter('e')} and ${isOpenSql}
      and ((e.target_type = 'story' and e.target_id = s.id)
        or (e.target_type = 'delivery_group' and e.target_id in
          (select m.group_id from delivery_group_stories m
            where ${orgFilter('m')} and m.story_id = s.id and m.open))))`;

/** Reads the locks and the work near a story in one round trip. */
export async function readWorkNearStory(db: Db, storyId: IdOrSql): Promise<WorkNearStory> {
  const [locks, own, works] = await Promise.all([
    db.all(nearbyLocksQuery(storyId)),
    db.one(ownFilesQuery(storyId)),
    db.all(nearbyWorkQuery(storyId)),
  ]);
  return {
    locks: locks.slice(0, maxLocks),
    hasMoreLocks: locks.length > maxLocks,
    ownFiles: own.files,
    otherWork: works.slice(0, maxExecutions).filter(({ files }) => files.length > 0),
    hasMoreWork: works.length > maxExecutions,
  };
}

function nearbyLocksQuery(storyId: IdOrSql): Query<NearbyLock> {
  return sql`with ${storyAndOpenWorkSql(storyId)}
     select ${lockColumnList}, coalesce(k.story_id = s.id or k.execution_id in (select o.id from own o), false) as own
     from story s join locks k on ${orgFilter('k')} and k.project_id = s.project_id and ${isLiveLockSql}
     order by own desc, k.id limit ${sql.literal(maxLocks + 1)}`;
}

function ownFilesQuery(storyId: IdOrSql): Query<{ files: string[] }> {
  return sql`with ${storyAndOpenWorkSql(storyId)}
     select coalesce(array_agg(distinct t.path), '{}') as files
     from own o cross join lateral jsonb_array_elements_text(o.checkpoint -> 'filesTouched') t(path)`;
}

/**
 * Returns the query for other work. Its files are limited to those that the story's work also touched, or
 * that share a prefix with one of the story's locks.
 */
function nearbyWorkQuery(storyId: IdOrSql): Query<NearbyWork> {
  return sql`with ${storyAndOpenWorkSql(storyId)},
     mine as materialized (
       select t.path from own o cross join lateral jsonb_array_elements_text(o.checkpoint -> 'filesTouched') t(path)),
     heads as materialized (
       select distinct ${literalPrefixSql(sql.part`r.text`)} as head
       from story s join locks k on ${orgFilter('k')} and k.project_id = s.project_id and ${isLiveLockSql}
         and (k.story_id = s.id or k.execution_id in (select o.id from own o))
       cross join lateral unnest(k.resources) r(text))
     select w.id as "executionId", w.story_id as "storyId",
       (select l.holder from leases l where ${orgFilter('l')} and l.unit_type = w.target_type
         and l.unit_id = w.target_id and l.state = 'held') as holder,
       array(select t.path from jsonb_array_elements_text(w.checkpoint -> 'filesTouched') t(path)
         where t.path in (select m.path from mine m)
           or exists (select from heads h where starts_with(t.path, h.head))) as files
     from (select e.id, e.target_type, e.target_id, e.checkpoint,
         case e.target_type when 'story' then e.target_id end as story_id
       from story s join executions e on ${orgFilter('e')} and e.project_id = s.project_id
         and ${isInProgressSql} and e.id not in (select o.id from own o)
       order by e.id desc limit ${sql.literal(maxExecutions + 1)}) w
     order by w.id`;
}
