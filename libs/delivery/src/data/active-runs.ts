/** Who is at work: runs that have not ended, and live leases whose run sent nothing. */
import { type Db, decodeCursor, pageOfRows, sqlQuery, Values } from '@muster/database';
import {
  type ActiveRun,
  type MemberRef,
  type ParamsOf,
  type Registry,
  type ResultOf,
  type RunEvent,
} from '@muster/registry';
import { type Caller, visibleProjects } from '@muster/runtime';
import { z } from 'zod';
import { forgottenAfterHours, shownRunState } from '../rules/run-states.ts';

type List = Registry['agents']['listActive'];

interface ActiveRow {
  /** Tells those apart that began at the same time. */
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

const toActiveRun = (row: ActiveRow): ActiveRun => ({
  runId: row.run_id,
  agent: row.agent,
  member: row.member,
  projectId: row.project_id,
  storyKey: row.story_key,
  executionId: row.execution_id,
  state: shownRunState({
    state: row.state,
    isLeased: row.leased,
    lastSeenAt: row.last_seen_at,
    now: row.now,
  }),
  lastEvent: row.last_event,
  startedAt: row.started_at,
  lastSeenAt: row.last_seen_at,
});

const Cursor = z.tuple([z.string(), z.string()]);

/**
 * A page of them, newest first. What costs is how many are active, not how many there ever were: live leases and runs
 * heard of lately have an index each. A project that is named is not asked about here.
 */
export async function listActiveRuns(
  db: Db,
  caller: Caller,
  { projectId, agentId, limit, cursor }: ParamsOf<List>,
): Promise<ResultOf<List>> {
  const after = decodeCursor(cursor, Cursor);
  const values = new Values(caller.orgId);
  const agent = agentId === undefined ? undefined : values.uuid(agentId);
  // Worked out once, and not for each run.
  const asked =
    projectId === undefined
      ? `select v.project_id from ${visibleProjects(values, caller)} v`
      : `select ${values.projectId(projectId)} as project_id`;
  const isAsked = (row: string): string =>
    [
      `${row}.project_id in (select project_id from asked)`,
      ...(agent === undefined ? [] : [`${row}.agent_id = ${agent}`]),
    ].join(' and ');
  const isLate = `r.last_seen_at <= now() - interval '${forgottenAfterHours} hours'`;
  const ofRun = `r.id::text, r.run_id, r.member_id, r.agent_id, r.project_id, r.story_id, r.execution_id, r.state,
    r.last_event, r.started_at, r.last_seen_at`;
  const rows = await db.all(
    sqlQuery<ActiveRow>(
      `with asked as materialized (${asked}),
       live as materialized (
         select l.unit_type, l.unit_id, l.project_id, l.member_id, l.agent_id, l.run_id, l.granted_at,
           l.expires_at - make_interval(secs => l.ttl_seconds) as renewed_at, e.id as execution_id, e.state as execution_state
         from leases l left join executions e on e.org_id = l.org_id and e.target_type = l.unit_type
           and e.target_id = l.unit_id and e.state <> 'completed'
         where l.org_id = ${values.org} and l.state = 'held' and not l.expiry_noted and l.expires_at > now()
           and ${isAsked('l')}),
       held as materialized (
         select live.*, h.id as run
         from live left join lateral (
           select r.id from agent_runs r
           where r.org_id = ${values.org} and r.project_id = live.project_id and r.member_id = live.member_id
             and r.agent_id is not distinct from live.agent_id
             and (r.run_id = live.run_id or (live.run_id is null and r.execution_id = live.execution_id))
             and (r.ended_at is null or r.ended_at >= live.granted_at)
           order by r.ended_at desc nulls first, r.started_at desc limit 1) h on true),
       active (key, run_id, member_id, agent_id, project_id, story_id, execution_id, state, last_event, started_at,
           last_seen_at, leased) as (
         select ${ofRun}, r.id in (select h.run from held h where h.run is not null) from agent_runs r
         where r.org_id = ${values.org} and r.ended_at is null and not (${isLate}) and ${isAsked('r')}
         union all
         select ${ofRun}, true from agent_runs r
         where r.org_id = ${values.org} and r.id in (select h.run from held h) and r.ended_at is null and ${isLate}
         union all
         select h.unit_type || ' ' || h.unit_id, h.run_id, h.member_id, h.agent_id, h.project_id,
           case when h.unit_type = 'story' then h.unit_id end, h.execution_id,
           case h.execution_state when 'waiting_input' then 'waiting' else 'running' end, null, h.granted_at, h.renewed_at, true
         from held h where h.run is null),
       page as (
         select * from active ${after === undefined ? '' : `where (started_at, key collate "C") < (${values.instant(after[0])}, ${values.$(after[1])})`}
         order by started_at desc, key collate "C" desc limit ${values.$(limit + 1)})
       select page.*, now()::timestamptz(3) as now,
         jsonb_build_object('id', m.id, 'name', m.name, 'handle', m.handle) as member,
         case when a.id is not null then jsonb_build_object('id', a.id, 'name', a.name) end as agent,
         p.key || '-' || s.number as story_key
       from page
       join projects p on p.org_id = ${values.org} and p.id = page.project_id
       join members m on m.org_id = ${values.org} and m.id = page.member_id
       left join agents a on a.org_id = ${values.org} and a.id = page.agent_id
       left join stories s on s.org_id = ${values.org} and s.id = page.story_id
       order by page.started_at desc, page.key collate "C" desc`,
      values.list,
    ),
  );
  return pageOfRows(rows, limit, (row) => [row.started_at, row.key], toActiveRun);
}
