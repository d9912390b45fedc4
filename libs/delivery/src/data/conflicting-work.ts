/**
 * Reads the paths, globs and names that live locks, work in progress and open pull requests of a project
 * cover. Stories are compared with them before work on the stories begins.
 */
import { type Db, type IdOrSql, orgFilter, type Part, sql } from '@muster/driver';
import { type Actor } from '@muster/contract';
import { noAgentId, storyIdsSql } from '@muster/tenancy';
import { isHeldSql, isInStateSql } from '../leases/states-sql.ts';
import { type Holder } from '../rules/acquire.ts';
import { type CoveredResources } from '../rules/story-conflicts.ts';
import { resourcesMeetingPrefixSql } from './literal-prefix.ts';
import { isHeldWithGraceSql } from './leases.ts';
import { isLiveLockSql } from './locks.ts';

/** The condition that these columns name another member or agent; everyone counts if `me` is null. */
const isOfAnotherSql = (alias: Part, me: Holder | null): Part =>
  me === null
    ? sql.part`true`
    : sql.part`(${alias}.member_id, ${alias}.agent_id) is distinct from (${me.memberId}::uuid, ${me.agentId}::uuid)`;

/** The condition that lease `l` is held by another one. Another run of the same agent counts as another. */
const isLeaseOfAnotherSql = (me: Holder | null): Part =>
  me === null
    ? sql.part`true`
    : sql.part`(${isOfAnotherSql(sql.part`l`, me)} or l.run_id is distinct from ${me.runId}::text)`;

/** The last worker on execution `e`, in the columns that a lease has. */
const lastWorkerSql = sql.part`(select c.member_id, nullif(c.agent_id, ${noAgentId}::uuid) as agent_id
  from execution_contributors c where ${orgFilter('c')} and c.execution_id = e.id and c.attempt = e.attempt limit 1)`;

/** The condition that the pull request of the submitted execution `e` is neither merged nor closed. */
const isPullRequestOpenSql = sql.part`(${isInStateSql('submitted')} and e.merged_at is null
  and e.forge #>> '{pullRequest,kind}' is distinct from 'pr_closed')`;

/**
 * Returns SQL for rows of `source, story_id, lock_id, holder, are_files, resources`. They cover the live
 * locks, the work under leases, and the submitted work of a project, except that of the same member and agent
 * as `me`. Work under a lease of another run of the agent is included, with its locks.
 */
const coveredResourcesSql = (projectId: IdOrSql, me: Holder | null): Part => sql.part`
  work as materialized (
    select 'files' as source, e.id, e.target_type, e.target_id, e.checkpoint, l.holder
    from leases l join executions e on ${orgFilter('e')} and e.target_type = l.unit_type and e.target_id = l.unit_id
      and ${isHeldSql}
    where ${orgFilter('l')} and l.project_id = ${projectId} and l.unit_type in ('story', 'delivery_group')
      and ${isHeldWithGraceSql} and ${isLeaseOfAnotherSql(me)}
    union all
    select 'pull_request', e.id, e.target_type, e.target_id, e.checkpoint, null::jsonb
    from executions e left join lateral ${lastWorkerSql} w on true
    where ${orgFilter('e')} and e.project_id = ${projectId} and ${isPullRequestOpenSql} and ${isOfAnotherSql(sql.part`w`, me)}),
  covered as (
    select 'lock' as source, coalesce(k.story_id, x.target_id) as story_id, k.id as lock_id, k.holder,
      false as are_files, k.resources
    from locks k left join executions x on ${orgFilter('x')} and x.id = k.execution_id and x.target_type = 'story'
    where ${orgFilter('k')} and k.project_id = ${projectId} and ${isLiveLockSql}
      and (${isOfAnotherSql(sql.part`k`, me)} or k.execution_id in (select w.id from work w where w.source = 'files'))
    union all
    select w.source, case w.target_type when 'story' then w.target_id end, null, w.holder, true,
      array(select t.path from jsonb_array_elements_text(w.checkpoint -> 'filesTouched') t(path))
    from work w
    union all
    select case w.source when 'files' then 'touches' else w.source end, s.id, null, w.holder, false, s.touches
    from work w
    cross join lateral (
      select w.target_id as id where w.target_type = 'story'
      union all
      select m.story_id from delivery_group_stories m
      where ${orgFilter('m')} and w.target_type = 'delivery_group' and m.group_id = w.target_id and m.open) u
    join stories s on ${orgFilter('s')} and s.id = u.id and s.touches <> '{}')`;

const storyKeySql = (storyId: Part): Part =>
  sql.part`(select p.key || '-' || y.number from stories y join projects p on ${orgFilter('p')} and p.id = y.project_id
    where ${orgFilter('y')} and y.id = ${storyId})`;

/** Resources under a lock or in the work of another holder. */
interface ResourcesOfOthers extends CoveredResources {
  readonly key: string | null;
  readonly lockId: string | null;
  readonly holder: Actor | null;
}

/** Reads what others hold in a project. It leaves out resources that cannot match any of the path prefixes. */
export const readResourcesOfOthers = (
  db: Db,
  projectId: IdOrSql,
  me: Holder,
  pathPrefixes: readonly string[],
): Promise<ResourcesOfOthers[]> =>
  db.all(
    sql<ResourcesOfOthers>`with ${coveredResourcesSql(projectId, me)}
     select c.source, c.story_id as "storyId", ${storyKeySql(sql.part`c.story_id`)} as key, c.lock_id as "lockId",
       c.holder, c.are_files as "areFiles", f.resources
     from covered c
     cross join lateral (select ${resourcesMeetingPrefixSql(sql.part`c.resources`, pathPrefixes)} as resources) f
     where /*guard: stories are compared with the work of others*/cardinality(f.resources) > 0/*end*/`,
  );

/**
 * Serializes the searches that compare a story of the project with the work of others. The statements after
 * it see what earlier searches took. The lock ends with the transaction, or when its savepoint is rolled back.
 */
export const serializeConflictChecks = (db: Db, projectId: IdOrSql): Promise<unknown> =>
  db.all(
    sql`select /*guard: stories are compared one after the other*/pg_advisory_xact_lock/*end*/(hashtextextended(concat_ws(' ', 'conflicts', ${projectId}::uuid), 0))`,
  );

/** A story whose work may conflict with that of others. */
interface ComparedStory {
  readonly id: string;
  readonly key: string;
  readonly resources: readonly CoveredResources[];
}

interface ComparedStoryRow extends Pick<ComparedStory, 'id' | 'key'> {
  readonly touches: string[];
  /** The locks and files of the work on the story. */
  readonly covered: Omit<CoveredResources, 'storyId'>[];
}

/**
 * Reads the unfinished stories of a project that touch or cover anything, by id. With references, only those
 * stories are read.
 */
export async function readComparedStories(
  db: Db,
  projectId: IdOrSql,
  refs: readonly string[] | undefined,
  limit: number,
): Promise<ComparedStory[]> {
  const isChosen =
    refs === undefined
      ? sql.empty
      : sql.part`and s.id = any (array(select n.id from ${storyIdsSql(refs)} n))`;
  const rows = await db.all(
    sql<ComparedStoryRow>`with ${coveredResourcesSql(projectId, null)},
     of_story as materialized (
       select c.story_id, json_agg(json_build_object('source', c.source, 'areFiles', c.are_files, 'resources', c.resources)) as covered
       from covered c where c.story_id is not null and (c.are_files or c.source = 'lock') and cardinality(c.resources) > 0
       group by c.story_id)
     select s.id, ${storyKeySql(sql.part`s.id`)} as key, s.touches, coalesce(o.covered, '[]') as covered
     from stories s left join of_story o on o.story_id = s.id
     where ${orgFilter('s')} and s.project_id = ${projectId} and s.completed_at is null
       and (s.touches <> '{}' or o.story_id is not null) ${isChosen}
     order by s.id limit ${sql.literal(limit)}`,
  );
  return rows.map(({ id, key, touches, covered }) => ({
    ...{ id, key },
    resources: [
      ...(touches.length === 0
        ? []
        : [{ source: 'touches' as const, storyId: id, areFiles: false, resources: touches }]),
      ...covered.map((resources) => ({ ...resources, storyId: id })),
    ],
  }));
}

/** Returns the position of the first reference that names no story of the project, counted from 1. */
export const findMissingStory = async (
  db: Db,
  projectId: IdOrSql,
  refs: readonly string[],
): Promise<number | undefined> =>
  (
    await db.find(
      sql<{ ord: number }>`select n.ord from ${storyIdsSql(refs)} n
       where not exists (select from stories s where ${orgFilter('s')} and s.id = n.id and s.project_id = ${projectId})
       order by n.ord limit 1`,
    )
  )?.ord;

/** A story that cannot start before another one has ended. */
interface WaitingStory {
  readonly storyId: string;
  readonly blockerId: string;
}

/** Reads all unfinished blockers of these stories, directly and through other blockers. */
export const readOpenBlockers = (db: Db, storyIds: readonly string[]): Promise<WaitingStory[]> =>
  db.all(
    sql<WaitingStory>`with recursive waits (story_id, blocker_id) as (
       select b.story_id, b.blocker_id from story_blockers b
         join stories s on ${orgFilter('s')} and s.id = b.blocker_id and s.completed_at is null
         where ${orgFilter('b')} and b.story_id = any (${storyIds}::uuid[])
       union
       select b.story_id, b.blocker_id from waits w
         join story_blockers b on ${orgFilter('b')} and b.story_id = w.blocker_id
         join stories s on ${orgFilter('s')} and s.id = b.blocker_id and s.completed_at is null)
     select w.story_id as "storyId", w.blocker_id as "blockerId" from waits w`,
  );
