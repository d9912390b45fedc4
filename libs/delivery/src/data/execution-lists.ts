/**
 * Lists executions across all projects that a caller may see. Each project is read from its newest execution
 * down, by the index of the most selective filter, for no more rows than a page needs. The remaining filters
 * are checked on the rows read.
 */
import {
  CursorId,
  type Db,
  decodeCursor,
  maxSearchedRows,
  orgFilter,
  pageOfSearchRows,
  type Part,
  searchPageSql,
  sql,
  limitToPageBytes,
} from '@muster/driver';
import { type ExecutionState, type ListedExecution, type ParamsOf, type ResultOf } from '@muster/contract';
import { type DeliveryRegistry } from '@muster/delivery-registry';
import { type Caller, activeProjectsVisibleTo } from '@muster/runtime';
import { projectIdSql } from '@muster/tenancy';
import { z } from 'zod';
import { visibleStatesOf, type StoredState } from '../leases/states.ts';
import { isHeldSql, isInStateSql, isOpenSql, visibleStateSql, storedStates } from '../leases/states-sql.ts';
import {
  toLeasedExecution,
  executionWithLeaseColumns,
  type ExecutionWithLeaseRow,
  toExecution,
} from './executions.ts';

type ListExecutionsOperation = DeliveryRegistry['deliveryExecutions']['list'];
type ListExecutionsParams = ParamsOf<ListExecutionsOperation>;

interface ListedExecutionRow extends ExecutionWithLeaseRow {
  readonly story: ListedExecution['story'];
  readonly group: ListedExecution['group'];
  readonly answered: boolean;
}

const Cursor = z.tuple([CursorId]);

/** The filter whose index is used: the one with the fewest matching executions. */
type IndexedFilter = 'pullRequest' | 'branch' | 'holderId' | 'state' | 'newest';

function chooseIndexedFilter({
  pullRequest,
  branch,
  holderId,
  state,
  needsRework,
}: ListExecutionsParams): IndexedFilter {
  if (pullRequest !== undefined) return 'pullRequest';
  if (branch !== undefined) return 'branch';
  if (holderId !== undefined) return 'holderId';
  return state === undefined && needsRework === undefined ? 'newest' : 'state';
}

/** Returns conditions for a pull request, given as a number or URL, in each place where work can name it. */
function pullRequestConditions(
  pullRequest: NonNullable<ListExecutionsParams['pullRequest']>,
): readonly Part[] {
  const number = Number(pullRequest);
  if (!Number.isNaN(number))
    return [sql.part`e.opened_number = ${number}::bigint`, sql.part`e.submitted_number = ${number}::bigint`];
  return [
    sql.part`e.opened_url_hash = md5(${pullRequest}) and e.git #>> '{pullRequest,url}' = ${pullRequest}`,
    sql.part`e.submitted_url_hash = md5(${pullRequest}) and e.pull_request ->> 'url' = ${pullRequest}`,
  ];
}

/** Returns conditions for a holder that is a member or an agent. */
const holderConditions = (holderId: string): readonly Part[] =>
  [sql.part`l.member_id = ${holderId}::uuid`, sql.part`l.agent_id = ${holderId}::uuid`].map(
    (by) => sql.part`exists (select from leases l where ${orgFilter('l')} and l.unit_type = e.target_type
      and l.unit_id = e.target_id and l.state = 'held' and ${by} and ${isHeldSql})`,
  );

const requestedStates = ({ state }: ListExecutionsParams): readonly ExecutionState[] | undefined =>
  typeof state === 'string' ? [state] : state;

/** Returns the stored states that readers may see as one of the given states. */
const storedStatesShownAs = (states: readonly ExecutionState[]): StoredState[] =>
  storedStates.filter((stored) => visibleStatesOf(stored).some((shown) => states.includes(shown)));

/**
 * Returns queries for the newest execution IDs of project `a.project_id`, limited by `upTo`. Each query uses
 * an index of its own. Two queries may return the same execution.
 */
function buildQueriesPerIndex(
  indexedFilter: IndexedFilter,
  params: ListExecutionsParams,
  orderAndLimit: Part,
): readonly Part[] {
  const ofProject = (where: Part): Part =>
    sql.part`(select e.id from executions e where ${orgFilter('e')} and e.project_id = a.project_id and ${where} ${orderAndLimit})`;
  const { pullRequest, branch, holderId, needsRework } = params;
  if (indexedFilter === 'pullRequest' && pullRequest !== undefined)
    return pullRequestConditions(pullRequest).map(ofProject);
  if (indexedFilter === 'branch') return [ofProject(sql.part`e.branch = ${branch}::text`)];
  if (indexedFilter === 'holderId')
    return [sql.part`l.member_id`, sql.part`l.agent_id`].map(
      (holder) => sql.part`(select e.id from leases l join executions e on ${orgFilter('e')}
        and e.target_type = l.unit_type and e.target_id = l.unit_id and ${isOpenSql} and ${isHeldSql}
        where ${orgFilter('l')} and l.state = 'held' and ${holder} = ${holderId}::uuid and e.project_id = a.project_id ${orderAndLimit})`,
    );
  if (indexedFilter === 'newest') return [ofProject(sql.part`true`)];
  const states = requestedStates(params);
  const stored = states === undefined ? storedStates : storedStatesShownAs(states);
  const [is, isNot] = [sql.part`e.needs_rework`, sql.part`not e.needs_rework`];
  const rework = needsRework === undefined ? [is, isNot] : needsRework ? [is] : [isNot];
  return stored.flatMap((state) =>
    rework.map((needs) => ofProject(sql.part`${isInStateSql(state)} and ${needs}`)),
  );
}

/**
 * Returns the conditions that the index does not cover, for execution `e` with lease expiry `l.expires_at` at
 * time `t.now`.
 */
function remainingConditions(indexedFilter: IndexedFilter, params: ListExecutionsParams): Part[] {
  const { branch, holderId, needsRework } = params;
  const where: Part[] = [];
  if (branch !== undefined && indexedFilter !== 'branch') where.push(sql.part`e.branch = ${branch}::text`);
  if (holderId !== undefined && indexedFilter !== 'holderId')
    where.push(sql.part`(${sql.join(holderConditions(holderId), ' or ')})`);
  if (needsRework !== undefined && indexedFilter !== 'state')
    where.push(sql.part`e.needs_rework = ${needsRework}::boolean`);
  const states = requestedStates(params);
  const isWhole = (stored: StoredState): boolean =>
    visibleStatesOf(stored).every((shown) => states?.includes(shown) === true);
  // The index contains only the stored state. The state that readers see may differ from it after a lease or
  // an offer has expired.
  if (states !== undefined && !(indexedFilter === 'state' && storedStatesShownAs(states).every(isWhole)))
    where.push(
      sql.part`${visibleStateSql(leaseExpirySql, sql.part`clock_timestamp()`)} = any (${states}::text[])`,
    );
  return where;
}

/** The expiry of the lease on execution `e`. */
const leaseExpirySql = sql.part`(select l.expires_at from leases l where ${orgFilter('l')}
  and l.unit_type = e.target_type and l.unit_id = e.target_id and l.state = 'held')`;

/** True if execution `e` waits for a question to which someone else than its author has replied. */
const isAnsweredSql = sql.part`exists (select from comments c
  join comments r on ${orgFilter('r')} and r.parent_id = c.id and r.deleted_at is null
    and r.author - 'name' <> c.author - 'name'
  where ${orgFilter('c')} and c.id = e.waiting_for)`;

const newestFirstSql = sql.part`q.id desc`;

/** The size in bytes of the columns that may be long. */
const longColumnBytesSql = sql.part`octet_length(q.checkpoint::text) + coalesce(octet_length(q.summary), 0)`;

/** Lists executions in pages, newest first. The caller checks access to a named project. */
export async function listExecutions(
  db: Db,
  caller: Caller,
  params: ListExecutionsParams,
): Promise<ResultOf<ListExecutionsOperation>> {
  const { projectId, limit } = params;
  const after = decodeCursor(params.cursor, Cursor);
  const projects =
    projectId === undefined
      ? sql.part`select v.project_id from ${activeProjectsVisibleTo(caller)} v`
      : sql.part`select ${projectIdSql(projectId)} as project_id`;
  const indexedFilter = chooseIndexedFilter(params);
  const rest = remainingConditions(indexedFilter, params);
  // The limit is a literal. If it were a parameter, Postgres would assume that a tenth of the table is
  // needed, and would choose a bad plan.
  const most = sql.literal(rest.length === 0 ? limit + 1 : maxSearchedRows);
  const isAfter = after === undefined ? sql.empty : sql.part`and e.id < ${after[0]}::uuid`;
  const walks = buildQueriesPerIndex(
    indexedFilter,
    params,
    sql.part`${isAfter} order by e.id desc limit ${most}`,
  );
  const ids = sql.part`select distinct w.id from asked a cross join lateral (${sql.join(walks, ' union all ')}) w
    order by w.id desc limit ${most}`;
  const rows = sql.part`select e.* from (${ids}) w join executions e on ${orgFilter('e')} and e.id = w.id order by e.id desc`;
  const fits = rest.length === 0 ? null : sql.part`(select ${sql.join(rest, ' and ')} from (select q.*) e)`;
  const looked = searchPageSql(rows, fits, newestFirstSql, sql.literal(limit + 1));
  const page = limitToPageBytes(looked, longColumnBytesSql, newestFirstSql);
  const more = fits === null ? sql.empty : sql.part`, e.fits, e.nth`;
  const listed = await db.all(
    sql<ListedExecutionRow>`with asked as materialized (${projects})
       select ${executionWithLeaseColumns}, e.more_follow${more},
         case when s.id is not null
           then jsonb_build_object('id', s.id, 'key', p.key || '-' || s.number, 'title', s.title, 'status', s.status) end as story,
         case when g.id is not null then jsonb_build_object('id', g.id, 'name', g.name) end as "group",
         ${isAnsweredSql} as answered
       from (${page}) e
       join projects p on ${orgFilter('p')} and p.id = e.project_id
       left join stories s on e.target_type = 'story' and ${orgFilter('s')} and s.id = e.target_id
       left join delivery_groups g on e.target_type = 'delivery_group' and ${orgFilter('g')} and g.id = e.target_id
       order by e.id desc`,
  );
  return pageOfSearchRows(listed, limit, (row) => [row.id], toListedExecution);
}

function toListedExecution({ story, group, answered, ...row }: ListedExecutionRow): ListedExecution {
  const { execution, lease, now } = toLeasedExecution(row);
  return { ...toExecution(execution, lease, now), story, group, answered };
}
