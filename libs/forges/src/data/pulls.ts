/** The branch or pull request of an execution's work, its head, and the results of its checks. */
import { type Db, orgFilter, currentOrgId, type Query, sql } from '@muster/driver';
import { type Trust } from '@muster/contract';
import { type TrustedCheckReport } from '../rules/checks.ts';
import { type CommitCheck, type DeliveryFact } from '../rules/fact.ts';

export interface PullOfWork {
  readonly executionId: string;
  readonly repositoryId: string;
  readonly isOpen: boolean;
  /** The number of the pull request that was replaced by this pull request. */
  readonly replacedPullNumber: number | null;
  /** The head of the work, if the fact contains it. `at` is the time of that fact. */
  readonly head: { readonly sha: string; readonly at: string } | null;
}

/**
 * Stores the pull request of the work as a fact describes it. Returns the head if it changed, and null
 * otherwise.
 */
export const storePull = async (
  db: Db,
  { executionId, repositoryId, isOpen, replacedPullNumber, head }: PullOfWork,
  { number, url, branch: factBranch, isForeign }: DeliveryFact,
): Promise<string | null> => {
  const { sha = null, at = null } = head ?? {};
  // The branch of a fork may have the same name as a branch of this repository, so the name is not stored.
  const branch = isForeign ? null : factBranch;
  const isSame = sql.part`t.repository_id = excluded.repository_id`;
  const { head: now, before } = await db.one(
    sql<{ head: string | null; before: string | null }>`with b as (
         select p.head_sha from forge_pulls p where ${orgFilter('p')} and p.execution_id = ${executionId})
       insert into forge_pulls as t (org_id, execution_id, repository_id, number, url, branch, is_open, replaces, head_sha, head_at)
       values (${currentOrgId}, ${executionId}, ${repositoryId}, ${number}, ${url}, ${branch}, ${isOpen}, ${replacedPullNumber}, ${sha}, ${at})
       on conflict (org_id, execution_id) do update set repository_id = excluded.repository_id,
         number = case when ${isSame} then coalesce(excluded.number, t.number) else excluded.number end,
         url = case when ${isSame} then coalesce(excluded.url, t.url) else excluded.url end,
         branch = case when ${isSame} then coalesce(excluded.branch, t.branch) else excluded.branch end,
         replaces = coalesce(excluded.replaces, t.replaces), is_open = excluded.is_open, heard_at = now(),
         head_sha = case when ${isSame} then coalesce(excluded.head_sha, t.head_sha) else excluded.head_sha end,
         head_at = case when ${isSame} then coalesce(excluded.head_at, t.head_at) else excluded.head_at end
       returning t.head_sha as head, (select b.head_sha from b) as before`,
  );
  return now === before ? null : now;
};

/**
 * Returns the head commit of a pull request of a linked repository. Returns undefined if no execution is known
 * to have its work in that pull request.
 */
export const findHeadOfPull = async (
  db: Db,
  repositoryId: string,
  number: number,
): Promise<string | undefined> =>
  (
    await db.find(
      sql<{ head: string | null }>`select p.head_sha as head from forge_pulls p
         where ${orgFilter('p')} and p.repository_id = ${repositoryId} and p.number = ${number} and p.head_sha is not null
         order by p.head_at desc limit 1`,
    )
  )?.head ?? undefined;

export const insertCheck = (
  repositoryId: string,
  { sha, name, at, state }: CommitCheck,
  trust: Trust,
): Query<unknown> =>
  sql`insert into forge_checks (org_id, repository_id, sha, name, at, state, trust)
     values (${currentOrgId}, ${repositoryId}, ${sha}, ${name}, ${at}, ${state}, ${trust}) on conflict do nothing`;

/**
 * Returns the stored check reports of a linked repository's commit as `name state`. Only the newest report of
 * each name is included.
 */
export const listKnownChecks = async (
  db: Db,
  { connectionId, externalId, sha }: { connectionId: string; externalId: string; sha: string },
): Promise<ReadonlySet<string>> => {
  const rows = await db.all(
    sql<{ word: string }>`select distinct on (k.name) k.name || ' ' || k.state as word from forge_checks k
       join forge_repositories r on r.org_id = k.org_id and r.id = k.repository_id
         and r.connection_id = ${connectionId} and r.external_id = ${externalId}
       where ${orgFilter('k')} and k.sha = ${sha} and k.trust = 'verified' order by k.name, k.at desc, k.state limit ${maxCheckReports}`,
  );
  return new Set(rows.map(({ word }) => word));
};

/** The maximum number of check reports that are read per commit. */
const maxCheckReports = 1_000;

/** Reads the check reports of a commit and the executions whose head it is. */
export async function findChecksAndExecutions(
  db: Db,
  repositoryId: string,
  sha: string,
): Promise<{ checkReports: TrustedCheckReport[]; executionIds: string[] }> {
  const [words, pulls] = await Promise.all([
    db.all(
      sql<TrustedCheckReport>`select k.name, k.state, k.at, k.trust from forge_checks k
         where ${orgFilter('k')} and k.repository_id = ${repositoryId} and k.sha = ${sha} limit ${maxCheckReports}`,
    ),
    db.all(
      sql<{
        id: string;
      }>`select p.execution_id as id from forge_pulls p
         where ${orgFilter('p')} and p.repository_id = ${repositoryId} and p.head_sha = ${sha} order by p.execution_id limit 10`,
    ),
  ]);
  return { checkReports: words, executionIds: pulls.map(({ id }) => id) };
}
