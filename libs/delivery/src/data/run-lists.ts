/** Lists runs across all projects that a caller may see, and finds one of them. */
import {
  CursorId,
  type Db,
  decodeCursor,
  limitToPageBytes,
  orgFilter,
  pageOfRows,
  type Part,
  sql,
} from '@muster/driver';
import { isUuid, type ListedRun, type ParamsOf, type ResultOf, runStates } from '@muster/contract';
import { type DeliveryRegistry } from '@muster/delivery-registry';
import { activeProjectsVisibleTo, type Caller, projectsVisibleTo } from '@muster/runtime';
import { projectIdSql, storyIdSql } from '@muster/tenancy';
import { z } from 'zod';
import { isHeldSql } from '../leases/states-sql.ts';
import { runs, type RunRow, toRun } from './runs.ts';

type ListRunsOperation = DeliveryRegistry['agents']['runs']['list'];

interface ListedRunRow extends RunRow {
  readonly agent: ListedRun['agent'];
  readonly story: ListedRun['story'];
}

const toListedRun = (row: ListedRunRow): ListedRun => ({
  ...toRun(row),
  agent: row.agent,
  story: row.story,
});

/** The columns of a listed run that are not its own, for the joins below. */
const joinedColumns = sql.part`jsonb_build_object('id', m.id, 'name', m.name, 'handle', m.handle) as member,
  case when a.id is not null then jsonb_build_object('id', a.id, 'name', a.name) end as agent,
  case when s.id is not null
    then jsonb_build_object('id', s.id, 'key', p.key || '-' || s.number, 'title', s.title, 'status', s.status) end as story`;
/** Joins the records that a run `r` names. */
const joinsSql = sql.part`join projects p on ${orgFilter('p')} and p.id = r.project_id
  join members m on ${orgFilter('m')} and m.id = r.member_id
  left join agents a on ${orgFilter('a')} and a.id = r.agent_id
  left join stories s on ${orgFilter('s')} and s.id = r.story_id`;

const Cursor = z.tuple([CursorId]);

/** Lists runs in pages, newest first. The caller checks access to a named project and story. */
export async function listRuns(
  db: Db,
  caller: Caller,
  { projectId, storyId, agentId, state, limit, cursor }: ParamsOf<ListRunsOperation>,
): Promise<ResultOf<ListRunsOperation>> {
  const after = decodeCursor(cursor, Cursor);
  const asked =
    projectId === undefined
      ? sql.part`select v.project_id from ${activeProjectsVisibleTo(caller)} v`
      : sql.part`select ${projectIdSql(projectId)} as project_id`;
  const isAfter = after === undefined ? sql.empty : sql.part`and r.id < ${after[0]}::uuid`;
  const newest = sql.part`${isAfter} order by r.id desc limit ${sql.literal(limit + 1)}`;
  const states = state === undefined ? runStates : [state].flat();
  const inAsked = sql.part`r.project_id in (select project_id from asked)`;
  const isOfAgent = agentId === undefined ? sql.part`true` : sql.part`r.agent_id = ${agentId}::uuid`;
  /** Reads the runs in one state from an index whose last column is the id. */
  const ofState = (owner: Part) => (one: string) =>
    sql.part`(select r.* from agent_runs r where ${orgFilter('r')} and ${owner} and r.state = ${one} ${newest})`;
  const walks = ((): Part => {
    if (storyId !== undefined)
      return sql.part`select r.* from agent_runs r where ${orgFilter('r')} and r.story_id = ${storyIdSql(storyId)}
        and ${inAsked} and ${isOfAgent} and r.state = any (${states}::text[]) ${newest}`;
    if (agentId !== undefined)
      return sql.join(states.map(ofState(sql.part`${isOfAgent} and ${inAsked}`)), ' union all ');
    return sql.part`select w.* from asked a cross join lateral (${sql.join(
      states.map(ofState(sql.part`r.project_id = a.project_id`)),
      ' union all ',
    )}) w`;
  })();
  const page = limitToPageBytes(
    sql.part`select * from (${walks}) w order by w.id desc limit ${sql.literal(limit + 1)}`,
    sql.part`octet_length(q.last_event::text)`,
    sql.part`q.id desc`,
  );
  const rows = await db.all(
    sql<ListedRunRow>`with asked as materialized (${asked})
       select ${runs.list}, ${joinedColumns}, r.more_follow from (${page}) r ${joinsSql} order by r.id desc`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toListedRun);
}

/** A found run. `rowId` and `logLines` are those of its row; null and 0 if it is derived from an execution. */
export interface FoundRun {
  readonly run: ListedRun;
  readonly rowId: string | null;
  readonly logLines: number;
}

interface RunReference {
  readonly runId: string;
  readonly projectId?: string | undefined;
}

const visibleProjectsSql = (caller: Caller, projectId: string | undefined): Part =>
  projectId === undefined
    ? sql.part`select v.project_id from ${projectsVisibleTo(caller)} v`
    : sql.part`select v.project_id from ${projectsVisibleTo(caller)} v where v.project_id = ${projectIdSql(projectId)}`;

/**
 * Finds a run by its id, or by the id of its execution. Of several runs, one with the id comes first, then the
 * newest.
 */
export async function findRun(
  db: Db,
  caller: Caller,
  reference: RunReference,
): Promise<FoundRun | undefined> {
  const { runId, projectId } = reference;
  const executionId = isUuid(runId) ? runId : null;
  const row = await db.find(
    sql<ListedRunRow>`with asked as materialized (${visibleProjectsSql(caller, projectId)}),
         named as materialized (
           select r.id, 0 as distance from asked a join agent_runs r
             on ${orgFilter('r')} and r.project_id = a.project_id and r.run_id = ${runId}
           union all
           select r.id, 1 from agent_runs r where ${orgFilter('r')} and r.execution_id = ${executionId}::uuid
             and r.project_id in (select project_id from asked))
       select ${runs.list}, ${joinedColumns}
       from named n join agent_runs r on ${orgFilter('r')} and r.id = n.id ${joinsSql}
       order by n.distance, r.id desc limit 1`,
  );
  if (row !== undefined) return { run: toListedRun(row), rowId: row.id, logLines: row.log_lines };
  if (executionId === null) return undefined;
  const derived = await findRunOfExecution(db, caller, executionId, projectId);
  return derived && { run: derived, rowId: null, logLines: 0 };
}

interface DerivedRunRow extends Omit<ListedRun, 'lastEvent'> {
  readonly startedAt: string;
}

/** Derives the run of an execution whose holder reported none from the execution and its newest grant. */
async function findRunOfExecution(
  db: Db,
  caller: Caller,
  executionId: string,
  projectId: string | undefined,
): Promise<ListedRun | undefined> {
  const row = await db.find(
    sql<DerivedRunRow>`select coalesce(e.run_id, e.id::text) as "runId", r.agent_id as "agentId",
         e.project_id as "projectId", s.id as "storyId", e.id as "executionId",
         case when e.state = 'waiting_input' then 'waiting' when ${isHeldSql} then 'running'
           when e.outcome in ('failed', 'canceled') then e.outcome when e.outcome is null then 'canceled'
           else 'completed' end as state,
         r.at as "startedAt", e.updated_at as "lastSeenAt",
         case when not (${isHeldSql}) then e.updated_at end as "endedAt", ${joinedColumns}
       from executions e
       cross join lateral (select g.at, (g.actor ->> 'memberId')::uuid as member_id, (g.actor ->> 'agentId')::uuid as agent_id,
           e.project_id, case when e.target_type = 'story' then e.target_id end as story_id
         from execution_events g where ${orgFilter('g')} and g.execution_id = e.id and g.kind = 'acquired'
         order by g.seq desc limit 1) r
       ${joinsSql}
       where ${orgFilter('e')} and e.id = ${executionId}
         and e.project_id in (${visibleProjectsSql(caller, projectId)})`,
  );
  if (row === undefined) return undefined;
  return { ...row, lastEvent: { kind: 'started', message: null, data: null, at: row.startedAt } };
}
