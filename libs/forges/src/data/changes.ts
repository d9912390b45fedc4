/** The heads of work whose changed files are read from the forge. */
import { currentOrgId, type Db, newId, orgFilter, type Part, type Query, sql } from '@muster/driver';
import { type ForgeToCall } from './statuses.ts';

/** The time after a failure in which the changes of a head are not requested again. The job itself is retried. */
const retryAfterMinutes = 60;

/** The head of execution `e` with pull request `p`, repository `r` and connection `c`, if its forge can be called. */
const headToReadSql = (executionId: string): Part => sql.part`forge_pulls p
  join executions e on ${orgFilter('e')} and e.id = p.execution_id
  join forge_repositories r on ${orgFilter('r')} and r.id = p.repository_id and r.external_id is not null
  join forge_connections c on ${orgFilter('c')} and c.id = r.connection_id and c.deleted_at is null
    and c.credentials is not null
  where ${orgFilter('p')} and p.execution_id = ${executionId} and p.head_sha is not null`;

const isReadSql = (and: Part): Part => sql.part`exists (select from code_changes k
  where ${orgFilter('k')} and k.execution_id = p.execution_id and k.source = 'forge' and k.head_sha = p.head_sha and ${and})`;

/** Requests a job that reads the changes of the execution's head, unless they were read before. */
export const requestChanges = (executionId: string, dispatchAfter: string | null = null): Query<unknown> =>
  sql`insert into outbox (org_id, id, topic, payload, dispatch_after)
     select ${currentOrgId}, ${newId()}, 'forge.changes', jsonb_build_object('executionId', p.execution_id),
       coalesce(${dispatchAfter}::timestamptz, now())
     from ${headToReadSql(executionId)} and not ${isReadSql(
       sql.part`(k.state = 'ready' or (${dispatchAfter}::timestamptz is null
         and k.stored_at > now() - make_interval(mins => ${sql.literal(retryAfterMinutes)})))`,
     )}`;

export interface HeadToRead extends ForgeToCall {
  readonly connectionId: string;
  readonly externalId: string;
  readonly projectId: string;
  /** null for work that has a branch and no pull request. */
  readonly number: number | null;
  readonly headSha: string;
  readonly baseBranch: string | null;
}

/** Finds the head of the execution whose changes were not read yet. */
export const findHeadToRead = (db: Db, executionId: string): Promise<HeadToRead | undefined> =>
  db.find(
    sql<HeadToRead>`select c.kind, c.base_url as "baseUrl", coalesce(r.full_name, '') as "fullName", c.credentials,
         (select t.cursor_key from streams t where ${orgFilter('t')}) as "organizationKey", c.quiet_until as "quietUntil",
         c.id as "connectionId", r.external_id as "externalId", e.project_id as "projectId", p.number,
         p.head_sha as "headSha", coalesce(e.git ->> 'baseBranch', r.default_branch) as "baseBranch"
       from ${headToReadSql(executionId)} and not ${isReadSql(sql.part`k.state = 'ready'`)}`,
  );
