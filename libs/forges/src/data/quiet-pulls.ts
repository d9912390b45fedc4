/**
 * Polling of open pull requests about which no delivery came for a while, and of repositories without a known
 * id.
 */
import { type Db, orgFilter, currentOrgId, type Part, type Query, sql } from '@muster/driver';
import { type ForgeToCall } from './statuses.ts';

/**
 * The time after the last delivery in which nothing is polled, because deliveries normally arrive within
 * seconds.
 */
const pollAfterMinutes = 30;
/** The time after the last delivery after which a pull request is no longer polled. */
const maxPollDays = 90;
/**
 * The limits of one round. The rest waits for the next round. The limit per connection keeps one organization
 * from using up a round.
 */
const maxPullsPerRound = 1_000;
const maxPullsPerConnection = 100;

/** The condition for pull requests `p` that must be polled. It uses the index on open pull requests. */
const isDueForPollSql: Part = sql.part`p.is_open and p.number is not null
  and p.heard_at between now() - make_interval(days => ${sql.literal(maxPollDays)}) and now() - make_interval(mins => ${sql.literal(pollAfterMinutes)})`;

/** Finds pull requests to poll across organizations, those with the oldest delivery first. */
export const pullsToPollQuery = (): Query<{ orgId: string; executionId: string }> =>
  sql<{
    orgId: string;
    executionId: string;
  }>`select q.org_id as "orgId", q.execution_id as "executionId" from (
      select p.org_id, p.execution_id, p.heard_at,
        row_number() over (partition by r.org_id, r.connection_id order by p.heard_at) as nth
      from forge_pulls p
      join forge_repositories r on r.org_id = p.org_id and r.id = p.repository_id
      join forge_connections c on c.org_id = r.org_id and c.id = r.connection_id and c.deleted_at is null
        and c.credentials_kind is not null
      where ${isDueForPollSql}) q
    where q.nth <= ${sql.literal(maxPullsPerConnection)} order by q.heard_at limit ${sql.literal(maxPullsPerRound)}`;

/**
 * Requests a poll of each pull request that still needs one. The poll counts as a delivery, so that no other
 * round requests it again.
 */
export const requestPolls = (executionIds: readonly string[]): Query<unknown> =>
  sql`with asked as (
      update forge_pulls p set heard_at = now()
      where ${orgFilter('p')} and p.execution_id = any (${executionIds}::uuid[]) and ${isDueForPollSql} returning p.execution_id)
    insert into outbox (org_id, id, topic, payload)
    select ${currentOrgId}, gen_random_uuid(), 'forge.ask', jsonb_build_object('executionId', a.execution_id) from asked a`;

/**
 * Requests a poll of an open pull request of a repository, if its forge can be called. Returns the number of
 * executions in it.
 */
export const requestPollOfPull = async (db: Db, repositoryId: string, number: number): Promise<number> =>
  (
    await db.all(
      sql<{ id: string }>`insert into outbox (org_id, id, topic, payload)
         select ${currentOrgId}, gen_random_uuid(), 'forge.ask', jsonb_build_object('executionId', p.execution_id)
         from forge_pulls p
         join forge_repositories r on r.org_id = p.org_id and r.id = p.repository_id
         join forge_connections c on c.org_id = r.org_id and c.id = r.connection_id and c.credentials_kind is not null
         where ${orgFilter('p')} and p.repository_id = ${repositoryId} and p.number = ${number} and p.is_open
         returning id`,
    )
  ).length;

export interface PullToPoll extends ForgeToCall {
  readonly connectionId: string;
  /** The id of the GitHub App; null if the connection uses a token. */
  readonly appId: string | null;
  readonly externalId: string;
  readonly url: string;
  readonly defaultBranch: string | null;
  readonly number: number;
  readonly headSha: string | null;
  readonly etag: string | null;
}

/**
 * Reads a pull request to poll. Returns undefined if it is closed, its work is completed, or its forge cannot
 * be called.
 */
export const findPullToPoll = (db: Db, executionId: string): Promise<PullToPoll | undefined> =>
  db.find(
    sql<PullToPoll>`select c.kind, c.base_url as "baseUrl", coalesce(r.full_name, '') as "fullName",
        c.credentials as credentials, t.cursor_key as "organizationKey", c.quiet_until as "quietUntil",
        c.id as "connectionId", c.app_id as "appId", r.external_id as "externalId", coalesce(r.url, '') as url,
        r.default_branch as "defaultBranch", p.number as number, p.head_sha as "headSha", p.etag
      from forge_pulls p
      join executions e on e.org_id = p.org_id and e.id = p.execution_id and e.state <> 'completed'
      join forge_repositories r on r.org_id = p.org_id and r.id = p.repository_id and r.external_id is not null
      join forge_connections c on c.org_id = r.org_id and c.id = r.connection_id and c.deleted_at is null
        and c.credentials is not null
      join streams t on t.org_id = p.org_id
      where ${orgFilter('p')} and p.execution_id = ${executionId} and p.is_open and p.number is not null`,
  );

export const storeEtag = (executionId: string, etag: string | null): Query<unknown> =>
  sql`update forge_pulls set etag = ${etag} where ${orgFilter()} and execution_id = ${executionId} and etag is distinct from ${etag}`;

/**
 * The repositories `r` that were linked by URL and sent no delivery yet, with their forge `c`, if it can be
 * called.
 */
const unidentifiedRepositoriesSql = sql.part`forge_repositories r
  join forge_connections c on ${orgFilter('c')} and c.id = r.connection_id and c.deleted_at is null and c.credentials is not null
  where ${orgFilter('r')} and r.external_id is null and r.url is not null`;

export const queueRepositoryIdLookup = (connectionId: string): Query<unknown> =>
  sql`insert into outbox (org_id, id, topic, payload)
     select ${currentOrgId}, gen_random_uuid(), 'forge.ask', jsonb_build_object('repositoryId', r.id)
     from ${unidentifiedRepositoriesSql} and r.connection_id = ${connectionId}`;

export interface UnidentifiedRepository extends ForgeToCall {
  readonly connectionId: string;
  readonly url: string;
}

export const findUnidentifiedRepository = (db: Db, id: string): Promise<UnidentifiedRepository | undefined> =>
  db.find(
    sql<UnidentifiedRepository>`select c.id as "connectionId", c.kind, c.base_url as "baseUrl", coalesce(r.full_name, '') as "fullName",
         c.credentials as credentials, (select t.cursor_key from streams t where ${orgFilter('t')}) as "organizationKey",
         c.quiet_until as "quietUntil", coalesce(r.url, '') as url
       from ${unidentifiedRepositoriesSql} and r.id = ${id}`,
  );
