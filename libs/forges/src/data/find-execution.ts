/** Which execution a fact is about: by the first of the ways that finds one. */
import { type Db, of, sql } from '@muster/database';
import { type Fact } from '../rules/fact.ts';
import { branchOfWork, storyNumbersIn } from '../rules/keys.ts';
import { type LinkedRepository } from './repositories.ts';

/** The ways, from the surest on. A story's key only links: the branch of other work may name the story, too. */
export const ways = ['trailer', 'branchOfWork', 'handedIn', 'branch', 'storyKey'] as const;
export type Way = (typeof ways)[number];

export interface FoundExecution {
  readonly id: string;
  readonly way: Way;
  /** The URL of the pull request that it was handed in with. */
  readonly handedIn: string | null;
  /** The branch that its work goes into, where that is known. */
  readonly base: string | null;
}

interface Row {
  readonly id: string;
  readonly way: number;
  readonly handed_in: string | null;
  readonly base: string | null;
}

/** All executions by the first way that finds any, the newest of each target; more than one is none that can be told. */
export async function findExecutions(
  db: Db,
  { projectId, projectKey }: LinkedRepository,
  fact: Fact,
): Promise<FoundExecution[]> {
  const { isForeign, url, kind } = fact;
  // Who makes a branch in a repository of their own may call it anything.
  const branch = isForeign ? null : fact.branch;
  const trailers = isForeign ? [] : fact.trailers;
  // A push also brings commits of other work: of work that landed, or of a branch that this one is stacked on.
  const work = branchOfWork(branch, projectKey);
  const numbers = isForeign || fact.url === null ? [] : storyNumbersIn(projectKey, branch, fact.title);
  const rows = await db.all(
    sql<Row>`with found as (
         select 0 as way, e.id from executions e
           where ${of('e')} and e.project_id = ${projectId} and e.id = any (${trailers}::uuid[])
             and (e.state <> 'completed' or ${kind !== 'branch_pushed'})
             and (e.branch is null or e.branch = ${branch})
         union all
         select 1, n.id from stories s cross join lateral (select e.id, e.epoch from executions e
             where ${of('e')} and e.target_type = 'story' and e.target_id = s.id order by e.id desc limit 1) n
           where ${of('s')} and s.project_id = ${projectId} and s.number = ${work?.number ?? null}::int
             and n.epoch = ${work?.epoch ?? null}::int
         union all
         select 2, e.id from executions e
           where ${of('e')} and e.project_id = ${projectId} and e.submitted_url_hash = md5(${url}::text)
             and e.pull_request ->> 'url' = ${url}
         union all
         select 3, e.id from executions e
           where ${of('e')} and e.project_id = ${projectId} and e.branch = ${branch}
         union all
         select 4, n.id from stories s cross join lateral (select e.id from executions e
             where ${of('e')} and e.target_type = 'story' and e.target_id = s.id order by e.id desc limit 1) n
           where ${of('s')} and s.project_id = ${projectId} and s.number = any (${numbers}::int[]))
       select distinct on (e.target_type, e.target_id) e.id, f.way, e.pull_request ->> 'url' as handed_in,
         coalesce(e.git ->> 'baseBranch', s.git ->> 'baseBranch', g.git ->> 'baseBranch') as base
       from found f
       join executions e on ${of('e')} and e.id = f.id
       left join stories s on ${of('s')} and s.id = e.target_id and e.target_type = 'story'
       left join delivery_groups g on ${of('g')} and g.id = e.target_id and e.target_type = 'delivery_group'
       where f.way = (select min(a.way) from found a)
       order by e.target_type, e.target_id, e.id desc`,
  );
  return rows.map(({ id, way, handed_in: handedIn, base }) => ({
    ...{ id, handedIn, base },
    way: ways[way] ?? 'storyKey',
  }));
}

/** What a parked fact may wait for of an execution; undefined where it is gone. */
export const keysOfExecution = (
  db: Db,
  executionId: string,
): Promise<{ projectId: string; keys: string[] } | undefined> =>
  db.find(
    sql<{
      projectId: string;
      keys: string[];
    }>`select e.project_id as "projectId", array_remove(array['id:' || e.id, 'branch:' || e.branch,
         'pull:' || (e.pull_request ->> 'url'), 'story:' || p.key || '-' || s.number], null) as keys
       from executions e
       join projects p on ${of('p')} and p.id = e.project_id
       left join stories s on ${of('s')} and s.id = e.target_id and e.target_type = 'story'
       where ${of('e')} and e.id = ${executionId}`,
  );
