/** Searches for the executions that a fact may concern. */
import { type Db, orgFilter, sql } from '@muster/driver';
import { type DeliveryFact } from '../rules/fact.ts';
import { parseWorkBranch, findStoryNumbers } from '../rules/keys.ts';
import { type LinkedRepository } from './repositories.ts';

/**
 * The ways to identify the execution that a fact is about, most reliable first. If only a story's key
 * matches, the fact only links the pull request to the execution, because branches of other work may contain
 * the key too.
 */
export const matchKinds = ['trailer', 'branchOfWork', 'handedIn', 'branch', 'storyKey'] as const;
export type MatchKind = (typeof matchKinds)[number];

/** The repository, pull request and head with which the forge first reported the work. */
export interface KnownPull {
  readonly repositoryId: string;
  readonly number: number | null;
  readonly branch: string | null;
  readonly headSha: string | null;
  readonly headAt: string | null;
  /** The number of an earlier pull request of the same branch, which was replaced by this pull request. */
  readonly replaces: number | null;
}

/** An execution that a fact may concern. */
export interface ExecutionCandidate {
  readonly id: string;
  readonly way: MatchKind;
  /** The id of the execution's story or delivery group. */
  readonly targetId: string;
  /** The pull request with which the work was submitted. */
  readonly handedIn: { readonly number: number; readonly url: string } | null;
  /** The branch into which the execution's work will be merged, if known. */
  readonly base: string | null;
  readonly seen: KnownPull | null;
  /** True if the execution's pull request was closed without a merge. */
  readonly isClosed: boolean;
}

type CandidateRow = Omit<ExecutionCandidate, 'way'> & { readonly way: number };

/**
 * Returns all forms in which a branch name may be stored. An earlier version of Muster stored names with a
 * prefix such as `refs/heads/`.
 */
const storedBranchNames = (branch: string | null): string[] =>
  branch === null ? [] : ['', 'refs/heads/', 'refs/remotes/origin/', 'origin/'].map((ref) => ref + branch);

/**
 * Finds all executions that a fact may concern. The executions of one story or group are sorted newest first.
 */
export async function findExecutionCandidates(
  db: Db,
  { id: repositoryId, projectId, projectKey }: LinkedRepository,
  fact: DeliveryFact,
): Promise<ExecutionCandidate[]> {
  const { isForeign, url, kind, number } = fact;
  // Contributors can choose any branch name in their own repository.
  const branch = isForeign ? null : fact.branch;
  const branches = storedBranchNames(branch);
  const trailers = isForeign ? [] : fact.trailers;
  // A push can also contain commits of other work: merged work, or the branch on which the pushed branch is
  // based.
  const work = parseWorkBranch(branch, projectKey);
  const numbers = isForeign || url === null ? [] : findStoryNumbers(projectKey, branch, fact.title);
  const rows = await db.all(
    sql<CandidateRow>`with found as (
         select 0 as way, e.id from executions e
           where ${orgFilter('e')} and e.project_id = ${projectId} and e.id = any (${trailers}::uuid[])
             and (e.state <> 'completed' or ${kind !== 'branch_pushed'})
             and (e.branch is null or e.branch = any (${branches}::text[]))
         union all
         select 1, n.id from stories s cross join lateral (select e.id, e.epoch from executions e
             where ${orgFilter('e')} and e.target_type = 'story' and e.target_id = s.id order by e.id desc limit 1) n
           where ${orgFilter('s')} and s.project_id = ${projectId} and s.number = ${work?.number ?? null}::int
             and n.epoch = ${work?.epoch ?? null}::int
         union all
         select 2, e.id from executions e
           where ${orgFilter('e')} and e.project_id = ${projectId}
             and e.submitted_number = ${url === null ? null : number}::bigint
         union all
         select 3, e.id from executions e
           where ${orgFilter('e')} and e.project_id = ${projectId} and e.branch = any (${branches}::text[])
         union all
         select 3, p.execution_id from forge_pulls p
           where ${orgFilter('p')} and p.repository_id = ${repositoryId} and p.branch = ${branch}
         union all
         select 4, n.id from stories s cross join lateral (select e.id from executions e
             where ${orgFilter('e')} and e.target_type = 'story' and e.target_id = s.id order by e.id desc limit 1) n
           where ${orgFilter('s')} and s.project_id = ${projectId} and s.number = any (${numbers}::int[]))
       select distinct on (e.id, f.way) e.id, f.way, e.target_id as "targetId", e.pull_request as "handedIn",
         coalesce(e.git ->> 'baseBranch', s.git ->> 'baseBranch', g.git ->> 'baseBranch') as base,
         case when p.execution_id is not null then jsonb_build_object('repositoryId', p.repository_id, 'number', p.number,
           'branch', p.branch, 'headSha', p.head_sha, 'headAt', p.head_at, 'replaces', p.replaces) end as seen,
         coalesce(e.forge #>> '{pullRequest,kind}' = 'pr_closed', false) as "isClosed"
       from found f
       join executions e on ${orgFilter('e')} and e.id = f.id
       left join stories s on ${orgFilter('s')} and s.id = e.target_id and e.target_type = 'story'
       left join delivery_groups g on ${orgFilter('g')} and g.id = e.target_id and e.target_type = 'delivery_group'
       left join forge_pulls p on ${orgFilter('p')} and p.execution_id = e.id
       order by e.id desc, f.way limit 1000`,
  );
  return rows.map((row) => ({ ...row, way: matchKinds[row.way] ?? 'storyKey' }));
}

/**
 * Returns the keys under which facts about this execution may have been stored before it could be found.
 * Returns undefined if the execution was deleted.
 */
export const findWaitKeysOfExecution = (
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
       join projects p on ${orgFilter('p')} and p.id = e.project_id
       left join stories s on ${orgFilter('s')} and s.id = e.target_id and e.target_type = 'story'
       where ${orgFilter('e')} and e.id = ${executionId}`,
  );
