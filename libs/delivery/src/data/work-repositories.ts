/** The repositories in which the work of executions is. */
import { type Db, orgFilter, sql } from '@muster/driver';
import { matchRepository, type RepositoryMatch, type WorkRepository } from '../rules/work-repository.ts';

interface WorkRepositoryRow extends WorkRepository {
  readonly executionId: string;
}

/**
 * Compares the repository of each execution's work with the repository that has this URL. A linked repository
 * whose URL is not known yet is left out.
 */
export async function matchRepositories(
  db: Db,
  executionIds: readonly string[],
  url: string,
): Promise<ReadonlyMap<string, RepositoryMatch>> {
  const rows = await db.all(
    sql<WorkRepositoryRow>`select e.id as "executionId", coalesce(e.pull_request, e.git -> 'pullRequest') as pull,
         case when p.execution_id is not null
           then jsonb_build_object('repositoryId', p.repository_id, 'number', p.number) end as "observedPull",
         coalesce((select jsonb_agg(jsonb_build_object('id', r.id, 'urls', r.url || r.former_urls) order by r.id)
           from forge_repositories r
           join forge_connections c on ${orgFilter('c')} and c.id = r.connection_id and c.deleted_at is null
           where ${orgFilter('r')} and r.project_id = e.project_id and r.url is not null), '[]') as "linkedRepositories",
         j.repository ->> 'url' as "projectUrl"
       from executions e
       join projects j on ${orgFilter('j')} and j.id = e.project_id
       left join forge_pulls p on ${orgFilter('p')} and p.execution_id = e.id
       where ${orgFilter('e')} and e.id = any (${executionIds}::uuid[])`,
  );
  return new Map(rows.map((work) => [work.executionId, matchRepository(work, url)]));
}
