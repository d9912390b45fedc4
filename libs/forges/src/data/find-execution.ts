/** Finds the executions that a fact may be about. */
import { type Db, of, sql } from '@muster/driver';
import { type Fact } from '../rules/fact.ts';
import { branchOfWork, storyNumbersIn } from '../rules/keys.ts';
import { type LinkedRepository } from './repositories.ts';

/** The ways, from the surest on. A story's key only links: the branch of other work may name the story, too. */
export const ways = ['trailer', 'branchOfWork', 'handedIn', 'branch', 'storyKey'] as const;
export type Way = (typeof ways)[number];

/** Where the work was first seen at the forge. */
export interface SeenPull {
  readonly repositoryId: string;
  readonly number: number | null;
  readonly branch: string | null;
  readonly headSha: string | null;
  readonly headAt: string | null;
  /** The number of the pull request of the same branch whose place it took. */
  readonly replaces: number | null;
}

/** An execution that a fact may be about. */
export interface Candidate {
  readonly id: string;
  readonly way: Way;
  /** Its story or group. */
  readonly targetId: string;
  /** The pull request that it was handed in with. */
  readonly handedIn: { readonly number: number; readonly url: string } | null;
  /** The branch that its work goes into, where that is known. */
  readonly base: string | null;
  readonly seen: SeenPull | null;
  /** Its pull request was closed without a merge. */
  readonly isClosed: boolean;
}

type Row = Omit<Candidate, 'way'> & { readonly way: number };

/** A branch was perhaps kept by another of its names, by a version before. */
const namesOf = (branch: string | null): string[] =>
  branch === null ? [] : ['', 'refs/heads/', 'refs/remotes/origin/', 'origin/'].map((ref) => ref + branch);

/** All executions that any of the ways finds; of one story or group the newest comes first. */
export async function findCandidates(
  db: Db,
  { id: repositoryId, projectId, projectKey }: LinkedRepository,
  fact: Fact,
): Promise<Candidate[]> {
  const { isForeign, url, kind, number } = fact;
  // Who makes a branch in a repository of their own may call it anything.
  const branch = isForeign ? null : fact.branch;
  const branches = namesOf(branch);
  const trailers = isForeign ? [] : fact.trailers;
  // A push also brings commits of other work: of work that landed, or of a branch that this one is stacked on.
  const work = branchOfWork(branch, projectKey);
  const numbers = isForeign || url === null ? [] : storyNumbersIn(projectKey, branch, fact.title);
  const rows = await db.all(
    sql<Row>`with found as (
         select 0 as way, e.id from executions e
           where ${of('e')} and e.project_id = ${projectId} and e.id = any (${trailers}::uuid[])
             and (e.state <> 'completed' or ${kind !== 'branch_pushed'})
             and (e.branch is null or e.branch = any (${branches}::text[]))
         union all
         select 1, n.id from stories s cross join lateral (select e.id, e.epoch from executions e
             where ${of('e')} and e.target_type = 'story' and e.target_id = s.id order by e.id desc limit 1) n
           where ${of('s')} and s.project_id = ${projectId} and s.number = ${work?.number ?? null}::int
             and n.epoch = ${work?.epoch ?? null}::int
         union all
         select 2, e.id from executions e
           where ${of('e')} and e.project_id = ${projectId}
             and e.submitted_number = ${url === null ? null : number}::bigint
         union all
         select 3, e.id from executions e
           where ${of('e')} and e.project_id = ${projectId} and e.branch = any (${branches}::text[])
         union all
         select 3, p.execution_id from forge_pulls p
           where ${of('p')} and p.repository_id = ${repositoryId} and p.branch = ${branch}
         union all
         select 4, n.id from stories s cross join lateral (select e.id from executions e
             where ${of('e')} and e.target_type = 'story' and e.target_id = s.id order by e.id desc limit 1) n
           where ${of('s')} and s.project_id = ${projectId} and s.number = any (${numbers}::int[]))
       select distinct on (e.id, f.way) e.id, f.way, e.target_id as "targetId", e.pull_request as "handedIn",
         coalesce(e.git ->> 'baseBranch', s.git ->> 'baseBranch', g.git ->> 'baseBranch') as base,
         case when p.execution_id is not null then jsonb_build_object('repositoryId', p.repository_id, 'number', p.number,
           'branch', p.branch, 'headSha', p.head_sha, 'headAt', p.head_at, 'replaces', p.replaces) end as seen,
         coalesce(e.forge #>> '{pullRequest,kind}' = 'pr_closed', false) as "isClosed"
       from found f
       join executions e on ${of('e')} and e.id = f.id
       left join stories s on ${of('s')} and s.id = e.target_id and e.target_type = 'story'
       left join delivery_groups g on ${of('g')} and g.id = e.target_id and e.target_type = 'delivery_group'
       left join forge_pulls p on ${of('p')} and p.execution_id = e.id
       order by e.id desc, f.way limit 1000`,
  );
  return rows.map((row) => ({ ...row, way: ways[row.way] ?? 'storyKey' }));
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
         'pull:' || (e.pull_request ->> 'url'), 'pull:' || e.submitted_number, 'story:' || p.key || '-' || s.number], null) as keys
       from executions e
       join projects p on ${of('p')} and p.id = e.project_id
       left join stories s on ${of('s')} and s.id = e.target_id and e.target_type = 'story'
       where ${of('e')} and e.id = ${executionId}`,
  );
