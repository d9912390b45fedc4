/**
 * The facts that decide an acquire. They are locked in the order that every transaction uses, and read after
 * the locks.
 */
import { type Db, type IdOrSql, newId, orgFilter, type Part, sql } from '@muster/driver';
import { type ExecutionTarget } from '@muster/contract';
import { type LeaseWithHolder, type OpenExecution } from '../rules/acquire.ts';
import { executionColumnList, type ExecutionRow } from './executions.ts';
import { toHeldLease, insertMissingLeases, leaseColumnList, type LeaseRow, readClock } from './leases.ts';
import { isOpenSql } from '../leases/states-sql.ts';
import { lockTarget, type DeliveryTarget } from './targets.ts';

export interface LockedAcquireRows {
  readonly target: DeliveryTarget;
  /** The database's time after the target, its leases and its executions were locked. */
  readonly now: string;
  /** The lease on the target itself. lockForAcquire inserts the row if it is missing. */
  readonly lease: LeaseRow;
  readonly heldRivalLeases: readonly LeaseWithHolder[];
  readonly rivalLeaseRows: readonly LeaseRow[];
  /** The target's execution that is not completed. */
  readonly execution: ExecutionRow | undefined;
  /** The target's completed execution for which a stop was requested. */
  readonly stoppedExecution: ExecutionRow | undefined;
  /** The keys of a story's children that are not finished. */
  readonly openChildKeys: readonly string[];
  /** The open executions of the stories or groups that have the leases in `rivals`. */
  readonly rivalExecutions: readonly ExecutionRow[];
}

/**
 * Returns a set of `(type, id, project_id)`. It contains the target itself and everything that the target
 * excludes: a story's group, or a group's stories.
 */
const exclusiveUnitsSql = (type: ExecutionTarget, id: IdOrSql): Part =>
  type === 'story'
    ? sql.part`(select 'story' as type, s.id, s.project_id from stories s where ${orgFilter('s')} and s.id = ${id}
        union all
        select 'delivery_group', m.group_id, m.project_id from delivery_group_stories m
        where ${orgFilter('m')} and m.story_id = ${id} and /*guard: a story's group excludes it*/m.open/*end*/)`
    : sql.part`(select 'delivery_group' as type, g.id, g.project_id from delivery_groups g
        where ${orgFilter('g')} and g.id = ${id}
        union all
        select 'story', m.story_id, m.project_id from delivery_group_stories m
        where ${orgFilter('m')} and m.group_id = ${id} and /*guard: a group's stories exclude it*/m.open/*end*/)`;

/** The maximum number of children whose keys are read. A refusal lists them. */
const maxListedChildren = 20;

/** Lists the keys of the first children of a story that are not finished. */
const listOpenChildKeys = (db: Db, storyId: IdOrSql): Promise<{ key: string }[]> =>
  db.all(
    sql<{ key: string }>`select p.key || '-' || s.number as key
      from stories s join projects p on ${orgFilter('p')} and p.id = s.project_id
      where ${orgFilter('s')} and s.parent_id = ${storyId} and s.completed_at is null
      order by s.number limit ${sql.literal(maxListedChildren)}`,
  );

/**
 * Locks the target, the leases and the executions. It also locks a group's stories, so that none of them is
 * moved. Every story and group gets its lease row before any lease is locked. An uncommitted row of another
 * transaction could not be locked and would exclude no caller.
 */
export async function lockForAcquire(db: Db, type: ExecutionTarget, id: IdOrSql): Promise<LockedAcquireRows> {
  const units = exclusiveUnitsSql(type, id);
  // The list is complete before any row is locked. With a join, a row that changed during the lock wait is
  // looked up again in the join. Some plans do not find it, and then it is neither locked nor read.
  const ids = sql.part`any (array(select u.id from ${units} u))`;
  const [target, , , leases, executions, stopped, openChildren, now] = await Promise.all([
    lockTarget(db, type, id),
    type === 'story'
      ? []
      : db.all(
          sql`select s.id from stories s where ${orgFilter('s')} and s.id = any (array
            (select m.story_id from delivery_group_stories m where ${orgFilter('m')} and m.group_id = ${id} and m.open))
            order by s.id for share of s`,
        ),
    db.all(insertMissingLeases(units)),
    db.all(
      sql<LeaseRow>`select /*guard: the leases as an acquire reads them*/${leaseColumnList}/*end*/ from leases l
        where ${orgFilter('l')} and l.unit_type in ('story', 'delivery_group') and l.unit_id = ${ids}
        order by l.unit_type, l.unit_id /*guard: the leases of an acquire are locked*/for no key update/*end*/`,
    ),
    db.all(
      sql<ExecutionRow>`select /*guard: the executions as an acquire reads them*/${executionColumnList}/*end*/ from executions e
        where ${orgFilter('e')} and ${isOpenSql} and e.target_type in ('story', 'delivery_group') and e.target_id = ${ids}
        order by e.id /*guard: the executions of an acquire are locked*/for no key update/*end*/`,
    ),
    db.find(
      sql<ExecutionRow>`select ${executionColumnList} from executions e
        where ${orgFilter('e')} and e.target_type = ${type} and e.target_id = ${id} and e.stop_requested is not null
          and e.state = 'completed' order by e.id desc limit 1 for no key update`,
    ),
    type === 'story' ? listOpenChildKeys(db, id) : [],
    readClock(db),
  ]);
  const lease = leases.find((row) => row.unit_id === target.id && row.unit_type === type);
  if (lease === undefined) throw new Error('the story or group has no lease row');
  const rivalRows = leases.filter((row) => row !== lease);
  return {
    target,
    now,
    lease,
    rivalLeaseRows: rivalRows,
    heldRivalLeases: rivalRows.map(toHeldLease).filter((held) => held !== null),
    execution: executions.find((row) => row.target_id === target.id),
    stoppedExecution: stopped,
    openChildKeys: openChildren.map(({ key }) => key),
    rivalExecutions: executions.filter((row) => row.target_id !== target.id),
  };
}

/** Returns the facts of an open execution that the rules need. */
export const toOpenExecution = (
  row: Pick<ExecutionRow, 'state' | 'offer'> | undefined,
): OpenExecution | null =>
  row === undefined || row.state === 'completed' ? null : { state: row.state, offer: row.offer };

/** Creates the first execution of a target, in its initial state. */
export const newExecution = (target: DeliveryTarget, now: string): ExecutionRow => ({
  id: newId(),
  project_id: target.projectId,
  target_type: target.type,
  target_id: target.id,
  state: 'available',
  phase: null,
  progress: 0,
  attempt: 0,
  spec_version: null,
  epoch: 0,
  run_id: null,
  device_id: null,
  offer: null,
  waiting_for: null,
  checkpoint: null,
  checkpoint_seq: 0,
  git: null,
  pull_request: null,
  outcome: null,
  failure: null,
  summary: null,
  needs_rework: false,
  rework: null,
  stop_requested: null,
  forge: {},
  merged_at: null,
  merge_verified_at: null,
  last_event_seq: 0,
  told_seq: 0,
  created_at: now,
  updated_at: now,
  completed_at: null,
  version: 0,
});
