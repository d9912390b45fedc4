/** The statuses that Muster sends to forges: due ones, the jobs that send them, and the last sent ones. */
import { type Db, newId, orgFilter, currentOrgId, type Part, type Query, sql } from '@muster/driver';
import { type ForgeKind } from '@muster/contract';
import { type CommitStatus } from '../rules/standing.ts';

/** A commit that is the head of an open pull request. */
export interface PullHead {
  readonly connectionId: string;
  /** The forge's own id of the repository. */
  readonly externalId: string;
  readonly sha: string;
}

/** The data needed to call the forge. */
export interface ForgeToCall {
  readonly kind: ForgeKind;
  readonly baseUrl: string;
  readonly fullName: string;
  /** The encrypted credentials. */
  readonly credentials: Buffer;
  readonly organizationKey: Buffer;
  /** The time before which the forge asked not to be called. */
  readonly quietUntil: string | null;
}

export interface WorkAtHead {
  readonly executionId: string;
  readonly projectId: string;
  readonly endedAs: string | null;
  readonly storyIds: readonly string[];
}

/** The open pull requests `p` of repositories `r` whose forge `c` can be called. */
const openPullsSql = sql.part`forge_pulls p
  join forge_repositories r on ${orgFilter('r')} and r.id = p.repository_id and r.external_id is not null
  join forge_connections c on ${orgFilter('c')} and c.id = r.connection_id and c.deleted_at is null
    and c.credentials is not null
  where ${orgFilter('p')} and p.is_open and p.number is not null and p.head_sha is not null`;

const isHeadSql = ({ connectionId, externalId, sha }: PullHead): Part =>
  sql.part`${orgFilter()} and connection_id = ${connectionId} and external_id = ${externalId} and sha = ${sha}`;

/** The ids of the stories of the execution `e`: its own, or those of its group. */
const storyIdsSql = sql.part`array(
  select s.id from stories s where ${orgFilter('s')} and e.target_type = 'story' and s.id = e.target_id
  union all
  select m.story_id from delivery_group_stories m where ${orgFilter('m')} and e.target_type = 'delivery_group'
    and m.group_id = e.target_id and m.open)`;

/**
 * Reads the forge of a head and the work at the head. Returns undefined if the head has no open work any
 * more, or the forge cannot be called.
 */
export async function readForgeAndWork(
  db: Db,
  { connectionId, externalId, sha }: PullHead,
): Promise<{ callee: ForgeToCall; works: WorkAtHead[] } | undefined> {
  const rows = await db.all(
    sql<
      ForgeToCall & WorkAtHead
    >`select c.kind, c.base_url as "baseUrl", coalesce(r.full_name, '') as "fullName",
         c.credentials as "credentials", (select t.cursor_key from streams t where ${orgFilter('t')}) as "organizationKey",
         c.quiet_until as "quietUntil", p.execution_id as "executionId", e.project_id as "projectId",
         case when e.state = 'completed' and e.outcome <> 'succeeded' then e.outcome end as "endedAs",
         ${storyIdsSql} as "storyIds"
       from executions e join (select p.org_id, p.execution_id, p.repository_id from ${openPullsSql}
           and r.connection_id = ${connectionId} and r.external_id = ${externalId} and p.head_sha = ${sha}) p
         on ${orgFilter('p')} and p.execution_id = e.id
       join forge_repositories r on ${orgFilter('r')} and r.id = p.repository_id
       join forge_connections c on ${orgFilter('c')} and c.id = r.connection_id
       where ${orgFilter('e')} order by e.id`,
  );
  const [first] = rows;
  return first && { callee: first, works: rows };
}

/** The time for which a job holds a head, somewhat longer than the timeout of one attempt. */
const headHoldSeconds = 45;

/**
 * Acquires a head for the job of this outbox row and returns the last sent status; undefined while another
 * job holds it.
 */
export const acquireHead = (
  db: Db,
  { connectionId, externalId, sha }: PullHead,
  rowId: string,
): Promise<{ state: CommitStatus['state'] | null; description: string | null } | undefined> =>
  db.find(
    sql<{
      state: CommitStatus['state'] | null;
      description: string | null;
    }>`insert into forge_statuses as t (org_id, connection_id, external_id, sha, held_by, held_until)
       values (${currentOrgId}, ${connectionId}, ${externalId}, ${sha}, ${rowId},
         clock_timestamp() + make_interval(secs => ${sql.literal(headHoldSeconds)}))
       on conflict (org_id, connection_id, external_id, sha) do update
         set held_by = excluded.held_by, held_until = excluded.held_until, changed_at = now()
         where t.held_by is null or t.held_until <= clock_timestamp() or t.held_by = excluded.held_by
       returning t.state, t.description`,
  );

export const releaseHead = (head: PullHead, rowId: string): Query<unknown> =>
  sql`update forge_statuses set held_by = null, held_until = null where ${isHeadSql(head)} and held_by = ${rowId}`;

/**
 * Stores the commit status that the forge accepted or refused, and releases the head commit for other jobs. A
 * transaction that waited for the row's lock sees the stored status.
 */
export const storeSentStatus = (
  db: Db,
  head: PullHead,
  { state, description }: CommitStatus,
  rowId: string,
): Promise<unknown> =>
  db.all(
    sql`update forge_statuses set state = ${state}, description = ${description}, held_by = null, held_until = null,
         changed_at = now() where ${isHeadSql(head)} and held_by = ${rowId}`,
  );

/** Requests a status, immediately or at the given time. */
export const requestStatus = (head: PullHead, dispatchAfter: string | null = null): Query<unknown> =>
  sql`insert into outbox (org_id, id, topic, payload, dispatch_after)
     values (${currentOrgId}, ${newId()}, 'forge.status', ${JSON.stringify(head)}::jsonb, coalesce(${dispatchAfter}::timestamptz, now()))`;

const requestStatusesSql = sql.part`insert into outbox (org_id, id, topic, payload)
  select ${currentOrgId}, gen_random_uuid(), 'forge.status',
    jsonb_build_object('connectionId', h.connection_id, 'externalId', h.external_id, 'sha', h.head_sha)
  from (select distinct r.connection_id, r.external_id, p.head_sha from ${openPullsSql}`;

export const requestStatusOfExecution = (executionId: string): Query<unknown> =>
  sql`${requestStatusesSql} and p.execution_id = ${executionId}) h`;

/** Requests statuses for all work on a story: the story's own work, and the work of its delivery group. */
export const requestStatusesOfStory = (storyId: string): Query<unknown> =>
  sql`${requestStatusesSql} and p.execution_id in (
       select e.id from executions e where ${orgFilter('e')} and e.target_type = 'story' and e.target_id = ${storyId}
       union all
       select e.id from delivery_group_stories m
         join executions e on ${orgFilter('e')} and e.target_type = 'delivery_group' and e.target_id = m.group_id
         where ${orgFilter('m')} and m.story_id = ${storyId} and m.open)) h`;

const debounceTimeSql = sql.part`now() + interval '5 seconds'`;

/**
 * Requests a job that checks all heads, if any pull request is open. Requests within a few seconds result in
 * one job.
 */
export const requestStatusCheck = (projectId: string | null): Query<unknown> =>
  sql`insert into outbox (org_id, id, topic, payload, dispatch_after)
     select ${currentOrgId}, ${newId()}, 'forge.statuses', '{}', ${debounceTimeSql}
     where exists (select from ${openPullsSql} and (${projectId}::uuid is null or r.project_id = ${projectId}::uuid))`;

/**
 * The maximum number of heads that are checked per organization and round; those with the newest deliveries
 * come first.
 */
const maxHeadsPerRound = 500;

export const listOpenHeads = (
  db: Db,
): Promise<(PullHead & { state: CommitStatus['state'] | null; description: string | null })[]> =>
  db.all(
    sql<
      PullHead & { state: CommitStatus['state'] | null; description: string | null }
    >`select h.connection_id as "connectionId", h.external_id as "externalId", h.head_sha as sha, t.state, t.description
       from (select r.connection_id, r.external_id, p.head_sha, max(p.heard_at) as heard_at from ${openPullsSql}
         group by r.connection_id, r.external_id, p.head_sha order by max(p.heard_at) desc limit ${sql.literal(maxHeadsPerRound)}) h
       left join forge_statuses t on ${orgFilter('t')} and t.connection_id = h.connection_id
         and t.external_id = h.external_id and t.sha = h.head_sha`,
  );

/**
 * Prepares a connection whose credentials or address changed. All last statuses are cleared, so that they are
 * sent again soon.
 */
export const resetCallsAndStatuses = (connectionId: string): readonly Query<unknown>[] => [
  sql`update forge_statuses set state = null, description = null where ${orgFilter()} and connection_id = ${connectionId}`,
  sql`update forge_connections set quiet_until = null where ${orgFilter()} and id = ${connectionId} and quiet_until is not null`,
  requestStatusCheck(null),
];

export const pauseCallsUntil = (connectionId: string, pausedUntil: string): Query<unknown> =>
  sql`update forge_connections set quiet_until = greatest(quiet_until, ${pausedUntil}::timestamptz)
     where ${orgFilter()} and id = ${connectionId}`;

/**
 * Stores the last success at most every five seconds. Otherwise all jobs would wait for the lock on one row.
 */
export const storeSuccess = (connectionId: string, isStatusCall: boolean): Query<unknown> =>
  sql`update forge_connections set last_error = null,
       last_status_at = case when ${isStatusCall} then now() else last_status_at end
     where ${orgFilter()} and id = ${connectionId} and (last_error is not null
       or (${isStatusCall} and (last_status_at is null or last_status_at < now() - interval '5 seconds')))`;
