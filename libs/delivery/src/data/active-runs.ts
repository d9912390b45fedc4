/** Lists active work: runs that have not ended, and live leases whose run sent no event. */
import {
  CursorText,
  CursorTime,
  type Db,
  decodeCursor,
  orgFilter,
  pageOfRows,
  type Part,
  sql,
  limitToPageBytes,
} from '@muster/driver';
import {
  type ActiveRun,
  type MemberRef,
  type ParamsOf,
  type ResultOf,
  type RunEvent,
} from '@muster/contract';
import { type DeliveryRegistry } from '@muster/delivery-registry';
import { type Caller, activeProjectsVisibleTo } from '@muster/runtime';
import { projectIdSql } from '@muster/tenancy';
import { z } from 'zod';
import { isOpenSql } from '../leases/states-sql.ts';
import { inactiveAfterHours, visibleRunState } from '../rules/run-states.ts';

type ListActiveOperation = DeliveryRegistry['agents']['listActive'];

interface ActiveRunRow {
  /** The cursor's second key, for entries that began at the same time. */
  readonly key: string;
  readonly run_id: string | null;
  readonly agent: { id: string; name: string } | null;
  readonly member: MemberRef;
  readonly project_id: string;
  readonly story_key: string | null;
  readonly execution_id: string | null;
  readonly state: 'running' | 'waiting';
  readonly leased: boolean;
  readonly last_event: RunEvent | null;
  readonly started_at: string;
  readonly last_seen_at: string;
  readonly now: string;
}

const toActiveRun = (row: ActiveRunRow): ActiveRun => ({
  runId: row.run_id,
  agent: row.agent,
  member: row.member,
  projectId: row.project_id,
  storyKey: row.story_key,
  executionId: row.execution_id,
  state: visibleRunState({
    state: row.state,
    isLeased: row.leased,
    lastSeenAt: row.last_seen_at,
    now: row.now,
  }),
  lastEvent: row.last_event,
  startedAt: row.started_at,
  lastSeenAt: row.last_seen_at,
});

const Cursor = z.tuple([CursorTime, CursorText]);

/**
 * Lists active work in pages, newest first. The cost depends on active entries only: live leases and recently
 * seen runs have an index each. The caller checks access to a named project.
 */
export async function listActiveRuns(
  db: Db,
  caller: Caller,
  { projectId, agentId, limit, cursor }: ParamsOf<ListActiveOperation>,
): Promise<ResultOf<ListActiveOperation>> {
  const after = decodeCursor(cursor, Cursor);
  // The projects are a common table expression, so that their query is evaluated once and not for each run.
  const asked =
    projectId === undefined
      ? sql.part`select v.project_id from ${activeProjectsVisibleTo(caller)} v`
      : sql.part`select ${projectIdSql(projectId)} as project_id`;
  const isAskedOf = (projectIdOfRow: Part, agentIdOfRow: Part): Part =>
    sql.join(
      [
        sql.part`${projectIdOfRow} in (select project_id from asked)`,
        ...(agentId === undefined ? [] : [sql.part`${agentIdOfRow} = ${agentId}::uuid`]),
      ],
      ' and ',
    );
  const isLeaseAsked = isAskedOf(sql.part`l.project_id`, sql.part`l.agent_id`);
  const isRunAsked = isAskedOf(sql.part`r.project_id`, sql.part`r.agent_id`);
  const isLate = sql.part`r.last_seen_at <= now() - make_interval(hours => ${sql.literal(inactiveAfterHours)})`;
  const ofRun = sql.part`r.id::text, r.run_id, r.member_id, r.agent_id, r.project_id, r.story_id, r.execution_id,
    r.state, r.last_event, r.started_at, r.last_seen_at`;
  const isAfter =
    after === undefined
      ? sql.empty
      : sql.part`where (started_at, key collate "C") < (${after[0]}::timestamptz, ${after[1]})`;
  const page = limitToPageBytes(
    sql.part`select * from wanted`,
    sql.part`octet_length(q.last_event::text)`,
    sql.part`q.started_at desc, q.key collate "C" desc`,
  );
  const rows = await db.all(
    sql<ActiveRunRow>`with asked as materialized (${asked}),
       live as materialized (
         select l.unit_type, l.unit_id, l.project_id, l.member_id, l.agent_id, l.run_id, l.granted_at,
           l.expires_at - make_interval(secs => l.ttl_seconds) as renewed_at, e.id as execution_id, e.state as execution_state
         from leases l left join executions e on e.org_id = l.org_id and e.target_type = l.unit_type
           and e.target_id = l.unit_id and ${isOpenSql}
         where ${orgFilter('l')} and l.state = 'held' and not l.expiry_noted and l.expires_at > now()
           and ${isLeaseAsked}),
       held as materialized (
         select live.*, h.id as run
         from live left join lateral (
           select r.id from agent_runs r
           where ${orgFilter('r')} and r.project_id = live.project_id and r.member_id = live.member_id
             and r.agent_id is not distinct from live.agent_id
             and (r.run_id = live.run_id or (live.run_id is null and r.execution_id = live.execution_id))
             and (r.ended_at is null or r.ended_at >= live.granted_at)
           order by r.ended_at desc nulls first, r.started_at desc limit 1) h on true),
       active (key, run_id, member_id, agent_id, project_id, story_id, execution_id, state, last_event, started_at,
           last_seen_at, leased) as (
         select ${ofRun}, r.id in (select h.run from held h where h.run is not null) from agent_runs r
         where ${orgFilter('r')} and r.ended_at is null and not (${isLate}) and ${isRunAsked}
         union all
         select ${ofRun}, true from agent_runs r
         where ${orgFilter('r')} and r.id in (select h.run from held h) and r.ended_at is null and ${isLate}
         union all
         select h.unit_type || ' ' || h.unit_id, h.run_id, h.member_id, h.agent_id, h.project_id,
           case when h.unit_type = 'story' then h.unit_id end, h.execution_id,
           case h.execution_state when 'waiting_input' then 'waiting' else 'running' end, null, h.granted_at, h.renewed_at, true
         from held h where h.run is null),
       wanted as (
         select * from active ${isAfter}
         order by started_at desc, key collate "C" desc limit ${limit + 1}),
       page as (${page})
       select page.*, now()::timestamptz(3) as now,
         jsonb_build_object('id', m.id, 'name', m.name, 'handle', m.handle) as member,
         case when a.id is not null then jsonb_build_object('id', a.id, 'name', a.name) end as agent,
         p.key || '-' || s.number as story_key
       from page
       join projects p on ${orgFilter('p')} and p.id = page.project_id
       join members m on ${orgFilter('m')} and m.id = page.member_id
       left join agents a on ${orgFilter('a')} and a.id = page.agent_id
       left join stories s on ${orgFilter('s')} and s.id = page.story_id
       order by page.started_at desc, page.key collate "C" desc`,
  );
  return pageOfRows(rows, limit, (row) => [row.started_at, row.key], toActiveRun);
}
