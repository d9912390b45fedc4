/** Runs as stored rows. Each event updates the row of its run. */
import { createHash } from 'node:crypto';
import { type Db, type Id, newId, of, type Part, type Query, type RowOf, sql, view } from '@muster/driver';
import {
  type MemberRef,
  type ParamsOf,
  type Registry,
  type Run,
  type Subject,
  subjectOf,
} from '@muster/registry';
import { type Caller, nothingAt, visibleTo } from '@muster/runtime';
import { storyIdOf } from '@muster/tenancy';
import { isClaimant } from './claimants.ts';

type Event = ParamsOf<Registry['agents']['runEvent']>;

const runs = view(
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
  ['id', 'member_id'],
);
export type RunRow = RowOf<typeof runs> & { readonly member: MemberRef };

export const toRun = (row: RunRow): Run => ({ ...runs.shown(row), member: row.member });

/** Returns the run as an event subject. */
export const aboutRun = (run: RunRow): Subject => subjectOf('run', run, run.run_id);

/** Returns the stored form of a deduplication key: a hash of fixed length. */
const keyHash = (dedupeKey: string | undefined): string | null =>
  dedupeKey === undefined ? null : createHash('md5').update(dedupeKey).digest('hex');

/** A locked run, with the facts that decide about its next event. */
export interface ClaimedRun {
  readonly run: RunRow;
  /** True if this event created the run. */
  readonly begun: boolean;
  /** True if the member or agent lost access at the same time. The run must not begin then. */
  readonly isRefused: boolean;
  /** True if the event's dedupeKey is among the newest ones. */
  readonly isKnown: boolean;
  /** The database's time after the run was locked. */
  readonly now: string;
}

/**
 * Creates the run if its ID is new in the project, and otherwise locks the existing one. The insert waits for
 * a transaction that creates the same run, and the following read sees that row. Creation locks the member
 * and the agent, as a claim does, so that their removal ends the run or comes before it. The caller checks
 * separately that the agent is the caller's own.
 */
export async function claimRun(
  db: Db,
  caller: Caller,
  projectId: Id,
  event: Event,
  agentId: string | null,
): Promise<ClaimedRun | undefined> {
  const id = newId();
  // Skips the insert if the agent does not exist. The caller then gets an error about the agent's ID, and not
  // about the foreign key.
  const isThere =
    agentId === null
      ? sql.part`true`
      : sql.part`exists (select 1 from agents a where ${of('a')} and a.id = ${agentId}::uuid)`;
  const isBegun = sql.part`exists (select 1 from agent_runs n where ${of('n')} and n.id = ${id}::uuid)`;
  const [made, mayBegin, row] = await Promise.all([
    db.find(
      sql<{
        id: string;
      }>`insert into agent_runs (org_id, id, project_id, run_id, member_id, agent_id, state, last_event)
         select p.org_id, ${id}::uuid, p.id, ${event.runId}, ${caller.memberId}::uuid, ${agentId}::uuid, 'running', 'null'
         from projects p where ${of('p')} and p.id = ${projectId} and ${isThere}
         on conflict (org_id, project_id, run_id) do update set run_id = excluded.run_id where false
         returning id`,
    ),
    isClaimant(db, { memberId: caller.memberId, agentId }, isBegun),
    db.find(
      sql<RunRow & { known: boolean; now: string }>`select ${runs.list},
           jsonb_build_object('id', m.id, 'name', m.name, 'handle', m.handle) as member,
           coalesce(${keyHash(event.dedupeKey)}::uuid = any (r.recent_keys), false) as known,
           clock_timestamp()::timestamptz(3) as now
         from agent_runs r join members m on ${of('m')} and m.id = r.member_id
         where ${of('r')} and r.project_id = ${projectId}
           and r.run_id = ${event.runId}`,
    ),
  ]);
  if (row === undefined) return undefined;
  const { known, now, ...run } = row;
  const begun = made !== undefined;
  return { run, begun, isRefused: begun && !mayBegin, isKnown: known, now };
}

/** Writes a locked run after an event. */
export const setRun = (run: RunRow, dedupeKey: string | undefined): Query<unknown> =>
  sql`update agent_runs set state = ${run.state}, last_event = ${run.last_event}, last_seen_at = ${run.last_seen_at}, ended_at = ${run.ended_at}, story_id = ${run.story_id}, execution_id = ${run.execution_id},
       started_at = ${run.started_at}, recent_keys = case when ${keyHash(dedupeKey)}::uuid is null then recent_keys else (array[${keyHash(dedupeKey)}::uuid] || recent_keys)[1:100] end
     where ${of()} and id = ${run.id}`;

/** Finds the owner of an agent; undefined if the agent does not exist or is retired. */
export const findAgentMember = async (db: Db, agentId: string): Promise<string | undefined> =>
  (
    await db.find(
      sql<{
        memberId: string;
      }>`select member_id as "memberId" from agents where ${of()} and id = ${agentId} and retired_at is null`,
    )
  )?.memberId;

/** The work that an event names, and the work of its run. */
export interface RunWork {
  readonly storyId: string | null;
  /** The execution that the event names. If the event names none, the execution that the run holds. */
  readonly executionId: string | null;
  /** True if the named work is in another project that the caller may see. */
  readonly isElsewhere: boolean;
}

/**
 * Finds the work in the event's project. Throws not_found for work that is hidden, of another organization,
 * or does not exist.
 */
export async function findRunWork(
  db: Db,
  caller: Caller,
  projectId: Id,
  event: Event,
  agentId: string | null,
): Promise<RunWork> {
  const no = sql.part`false`;
  const isHere = (found: Part) => sql.part`${found} = ${projectId}`;
  const mayBeSeen = (found: Part) =>
    sql.part`(${isHere(found)} or ${found} in (select v.project_id from ${visibleTo(caller)} v))`;
  const ofStory = sql.part`s.project_id`;
  const ofExecution = sql.part`e.project_id`;
  const story =
    event.storyId === undefined
      ? no
      : sql.part`${of('s')} and s.id = ${storyIdOf(event.storyId)} and ${mayBeSeen(ofStory)}`;
  const execution =
    event.executionId === undefined
      ? no
      : sql.part`${of('e')} and e.id = ${event.executionId}::uuid and ${mayBeSeen(ofExecution)}`;
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
         join executions x on ${of('x')} and x.target_type = l.unit_type and x.target_id = l.unit_id
           and x.state <> 'completed'
         where ${of('l')} and l.state = 'held' and l.member_id = ${caller.memberId}::uuid
           and l.agent_id is not distinct from ${agentId}::uuid and l.run_id = ${event.runId} and l.project_id = ${projectId}
         order by l.granted_at desc limit 1) h on true
       left join executions w on ${of('w')} and w.id = case when e.id is null then h.id else e.id end`,
  );
  if (row === undefined) throw new Error('a query without tables returned no row');
  if (event.storyId !== undefined && row.story === null) throw nothingAt('storyId');
  if (event.executionId !== undefined && row.execution === null) throw nothingAt('executionId');
  return {
    storyId: row.story ?? row.worked,
    executionId: row.execution ?? row.held,
    isElsewhere: row.storyHere === false || row.executionHere === false,
  };
}
