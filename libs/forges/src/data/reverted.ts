/** The stories whose merged work a pull request or a pushed commit reverts. */
import { type Db, orgFilter, sql } from '@muster/driver';
import { subjectOf } from '@muster/contract';
import { type DomainEvent } from '@muster/tenancy';
import { type Revert } from '../rules/fact.ts';
import { type LinkedRepository } from './repositories.ts';

interface RevertedStoryRow {
  readonly executionId: string;
  readonly id: string;
  readonly project_id: string;
  readonly key: string;
  readonly title: string;
}

/**
 * Creates an event for each story, unless it already has one for this revert. Merging a pull request also
 * causes a push, and only the first of these two reports counts. The links of the repository must be locked.
 */
export async function createRevertEvents(
  db: Db,
  { id: repositoryId, defaultBranch }: LinkedRepository,
  { reverts, base, number, url, defaultBranch: named }: Revert,
): Promise<DomainEvent[]> {
  const numbers = reverts.filter((one) => one.length < 10).map(Number);
  const rows = await db.all(
    sql<RevertedStoryRow>`select e.id as "executionId", s.id, s.project_id, j.key || '-' || s.number as key, s.title
       from forge_pulls p
       join executions e on ${orgFilter('e')} and e.id = p.execution_id and e.merged_at is not null
       join projects j on ${orgFilter('j')} and j.id = e.project_id and j.archived_at is null
       join stories s on ${orgFilter('s')} and s.project_id = e.project_id and ((e.target_type = 'story' and s.id = e.target_id)
         or (e.target_type = 'delivery_group' and s.id in (select m.story_id from delivery_group_stories m
           where ${orgFilter('m')} and m.group_id = e.target_id)))
       where ${orgFilter('p')} and p.repository_id = ${repositoryId}
         and (p.number = any (${numbers}::int[]) or e.forge #>> '{pullRequest,sha}' = any (${reverts}::text[]))
         and coalesce(e.git ->> 'baseBranch', s.git ->> 'baseBranch', ${defaultBranch ?? named}::text) is not distinct from ${base}::text
         and not exists (select from activity a where ${orgFilter('a')} and a.story_id = s.id
           and a.kind = 'story.mergeReverted' and case when a.data ->> 'number' is null or ${number}::int is null
             then a.data ->> 'executionId' = e.id::text else a.data ->> 'number' = ${number}::text end)
       order by s.id limit 200`,
  );
  return rows.map(({ executionId, ...story }) => ({
    ...{ kind: 'story.mergeReverted', subject: subjectOf('story', story, story.title, story.key) },
    data: { executionId, number, url },
  }));
}
