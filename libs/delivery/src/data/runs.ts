/** Runs as stored rows. Each event updates the row of its run. */
import { createHash } from 'node:crypto';
import {
  type Db,
  type IdOrSql,
  newId,
  orgFilter,
  type Part,
  type Query,
  type RowOf,
  sql,
  defineView,
} from '@muster/driver';
import { type MemberRef, type ParamsOf, type Run, type Subject, subjectOf } from '@muster/contract';
import { type DeliveryRegistry } from '@muster/delivery-registry';
import { type Caller, pathNotFound, projectsVisibleTo } from '@muster/runtime';
import { storyIdSql } from '@muster/tenancy';
import { tryLockClaimant } from './claimants.ts';

type RunEventParams = ParamsOf<DeliveryRegistry['agents']['runEvent']>;

export const runs = defineView(
  'agent_runs',
  'r',
  [
    'run_id',
    'agent_id',
    'project_id',
    'story_id',
    'execution_id',
    'state',
    'last_event',
    'started_at',
    'last_seen_at',
    'ended_at',
  ],
  ['id', 'member_id', 'log_lines'],
);
export type RunRow = RowOf<typeof runs> & { readonly member: MemberRef };

export const toRun = (row: RunRow): Run => ({ ...runs.shown(row), member: row.member });

/** Returns the run as an event subject. */
export const runSubject = (run: RunRow): Subject => subjectOf('run', run, run.run_id);

/** Returns the stored form of a deduplication key: a hash of fixed length. */
const hashDedupeKey = (dedupeKey: string | undefined): string | null =>
  dedupeKey === undefined ? null : createHash('md5').update(dedupeKey).digest('hex');

/** A locked run, with the facts that decide about its next event. */
export interface CreatedOrLockedRun {
  readonly run: RunRow;
  /** True if this event created the run. */
  readonly isNewRun: boolean;
  /** True if the member or agent lost access at the same time. The run must not begin then. */
  readonly isRefused: boolean;
  /** True if the event's dedupeKey is among the newest ones. */
  readonly isDuplicateEvent: boolean;
  /** The database's time after the run was locked. */
  readonly now: string;
}

/**
 * Creates the run if its ID is new in the project, and otherwise locks the existing one. The insert waits for
 * a transaction that creates the same run, and the following read sees that row. Creation locks the member
 * and the agent, as a claim does, so that their removal ends the run or comes before it. The caller checks
 * separately that the agent is the caller's own.
 */
export async function createOrLockRun(
  db: Db,
  caller: Caller,
  projectId: IdOrSql,
  event: RunEventParams,
  agentId: string | null,
): Promise<CreatedOrLockedRun | undefined> {
  const id = newId();
  // Skips the insert if the agent does not exist. The caller then gets an error about the agent's ID, and not
  // about the foreign key.
  const isThere =
    agentId === null
      ? sql.part`true`
      : sql.part`exists (select 1 from agents a where ${orgFilter('a')} and a.id = ${agentId}::uuid)`;
  const isBegun = sql.part`exists (select 1 from agent_runs n where ${orgFilter('n')} and n.id = ${id}::uuid)`;
  const [made, mayBegin, row] = await Promise.all([
    db.find(
      sql<{
        id: string;
      }>`insert into agent_runs (org_id, id, project_id, run_id, member_id, agent_id, state, last_event)
         select p.org_id, ${id}::uuid, p.id, ${event.runId}, ${caller.memberId}::uuid, ${agentId}::uuid, 'running', 'null'
         from projects p where ${orgFilter('p')} and p.id = ${projectId} and ${isThere}
         on conflict (org_id, project_id, run_id) do update set run_id = excluded.run_id where false
         returning id`,
    ),
    tryLockClaimant(db, { memberId: caller.memberId, agentId }, isBegun),
    db.find(
      sql<RunRow & { known: boolean; now: string }>`select ${runs.list},
           jsonb_build_object('id', m.id, 'name', m.name, 'handle', m.handle) as member,
           coalesce(${hashDedupeKey(event.dedupeKey)}::uuid = any (r.recent_keys), false) as known,
           clock_timestamp()::timestamptz(3) as now
         from agent_runs r join members m on ${orgFilter('m')} and m.id = r.member_id
         where ${orgFilter('r')} and r.project_id = ${projectId}
           and r.run_id = ${event.runId}`,
    ),
  ]);
  if (row === undefined) return undefined;
  const { known, now, ...run } = row;
  const begun = made !== undefined;
  return { run, isNewRun: begun, isRefused: begun && !mayBegin, isDuplicateEvent: known, now };
}

/** Writes a locked run after an event. */
export const updateRun = (run: RunRow, dedupeKey: string | undefined): Query<unknown> =>
  sql`update agent_runs set state = ${run.state}, last_event = ${run.last_event}, last_seen_at = ${run.last_seen_at}, ended_at = ${run.ended_at}, story_id = ${run.story_id}, execution_id = ${run.execution_id},
       started_at = ${run.started_at}, log_lines = ${run.log_lines}, recent_keys = case when ${hashDedupeKey(dedupeKey)}::uuid is null then recent_keys else (array[${hashDedupeKey(dedupeKey)}::uuid] || recent_keys)[1:100] end
     where ${orgFilter()} and id = ${run.id}`;

/** Finds the owner of an agent; undefined if the agent does not exist or is retired. */
export const findAgentOwnerId = async (db: Db, agentId: string): Promise<string | undefined> =>
  (
    await db.find(
      sql<{
        memberId: string;
      }>`select member_id as "memberId" from agents where ${orgFilter()} and id = ${agentId} and retired_at is null`,
    )
  )?.memberId;

/** The work that an event names, and the work of its run. */
export interface RunWork {
  readonly storyId: string | null;
  /** The execution that the event names. If the event names none, the execution that the run holds. */
  readonly executionId: string | null;
  /** True if the named work is in another project that the caller may see. */
  readonly isInOtherProject: boolean;
}

/**
 * Finds the work in the event's project. Throws not_found for work that is hidden, of another organization,
 * or does not exist.
 */
export async function findRunWork(
  db: Db,
  caller: Caller,
  projectId: IdOrSql,
  event: RunEventParams,
  agentId: string | null,
): Promise<RunWork> {
  const no = sql.part`false`;
  const isHere = (found: Part) => sql.part`${found} = ${projectId}`;
  const mayBeSeen = (found: Part) =>
    sql.part`(${isHere(found)} or ${found} in (select v.project_id from ${projectsVisibleTo(caller)} v))`;
  const ofStory = sql.part`s.project_id`;
  const ofExecution = sql.part`e.project_id`;
  const story =
    event.storyId === undefined
      ? no
      : sql.part`${orgFilter('s')} and s.id = ${storyIdSql(event.storyId)} and ${mayBeSeen(ofStory)}`;
  const execution =
    event.executionId === undefined
      ? no
      : sql.part`${orgFilter('e')} and e.id = ${event.executionId}::uuid and ${mayBeSeen(ofExecution)}`;
  const [row] = await db.all(
    sql<{
      story: string | null;
      storyHere: boolean | null;
      execution: string | null;
      executionHere: boolean | null;
      held: string | null;
      worked: string | null;
    }>`select s.id as story, ${isHere(ofStory)} as "storyHere", e.id as execution, ${isHere(ofExecution)} as "executionHere",
         h.id as held, case when w.target_type = 'story' then w.target_id end as worked
       from (select) one
       left join stories s on ${story}
       left join executions e on ${execution}
       left join lateral (select x.id from leases l
         join executions x on ${orgFilter('x')} and x.target_type = l.unit_type and x.target_id = l.unit_id
           and x.state <> 'completed'
         where ${orgFilter('l')} and l.state = 'held' and l.member_id = ${caller.memberId}::uuid
           and l.agent_id is not distinct from ${agentId}::uuid and l.run_id = ${event.runId} and l.project_id = ${projectId}
         order by l.granted_at desc limit 1) h on true
       left join executions w on ${orgFilter('w')} and w.id = case when e.id is null then h.id else e.id end`,
  );
  if (row === undefined) throw new Error('a query without tables returned no row');
  if (event.storyId !== undefined && row.story === null) throw pathNotFound('storyId');
  if (event.executionId !== undefined && row.execution === null) throw pathNotFound('executionId');
  return {
    storyId: row.story ?? row.worked,
    executionId: row.execution ?? row.held,
    isInOtherProject: row.storyHere === false || row.executionHere === false,
  };
}
