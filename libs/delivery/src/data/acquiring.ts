/** All that decides an acquire, locked in the order in which everybody locks, and read when it was. */
import { newId, type Db, sqlQuery, Values } from '@muster/database';
import { type ExecutionTarget } from '@muster/registry';
import { type HeldLease, type OpenExecution } from '../rules/acquire.ts';
import { executionList, type ExecutionRow } from './executions.ts';
import { leaseList } from './executions.ts';
import { insertUnitOf, type LeaseRow, readClock, toHeldLease } from './leases.ts';
import { lockTarget, type Target, targetIdSql } from './targets.ts';

export interface Acquiring {
  readonly target: Target;
  /** By the database's clock, when all of this was locked. */
  readonly now: string;
  /** The unit's own lease; it has a row by now. */
  readonly lease: LeaseRow;
  readonly rivals: readonly HeldLease[];
  readonly rivalRows: readonly LeaseRow[];
  /** The target's execution that is not completed. */
  readonly execution: ExecutionRow | undefined;
  /** Those of the rivals. */
  readonly rivalExecutions: readonly ExecutionRow[];
}

/** SQL for the leases of the units that exclude this one, and its own: a story's group, a group's stories. */
function unitsSql(values: Values, type: ExecutionTarget, ref: string): string {
  const id = targetIdSql(values, type, ref);
  return type === 'story'
    ? `((u.unit_type = 'story' and u.unit_id = ${id}) or (u.unit_type = 'delivery_group' and u.unit_id in
        (select s.group_id from delivery_group_stories s where s.org_id = ${values.org} and s.story_id = ${id} and s.open)))`
    : `((u.unit_type = 'delivery_group' and u.unit_id = ${id}) or (u.unit_type = 'story' and u.unit_id in
        (select s.story_id from delivery_group_stories s where s.org_id = ${values.org} and s.group_id = ${id} and s.open)))`;
}

/** Locks target, leases and executions. A group's stories are held as well, so that none is moved away meanwhile. */
export async function lockForAcquire(
  db: Db,
  orgId: string,
  type: ExecutionTarget,
  ref: string,
): Promise<Acquiring> {
  const ask = <Row>(build: (values: Values) => string): Promise<Row[]> => {
    const values = new Values(orgId);
    const text = build(values);
    return db.all(sqlQuery<Row>(text, values.list));
  };
  const [target, , , leases, executions, now] = await Promise.all([
    lockTarget(db, orgId, type, ref),
    type === 'story'
      ? []
      : ask(
          (values) => `select s.id from stories s where s.org_id = ${values.org} and s.id in
            (select m.story_id from delivery_group_stories m
              where m.org_id = ${values.org} and m.group_id = ${targetIdSql(values, type, ref)} and m.open)
            order by s.id for share of s`,
        ),
    ask((values) => insertUnitOf(values, type, targetIdSql(values, type, ref))),
    ask<LeaseRow>(
      (values) => `select ${leaseList.replaceAll('l.', 'u.')} from leases u
        where u.org_id = ${values.org} and ${unitsSql(values, type, ref)}
        order by u.unit_type, u.unit_id for no key update`,
    ),
    ask<ExecutionRow>(
      (values) => `select ${executionList} from executions e
        where e.org_id = ${values.org} and e.state <> 'completed' and exists
          (select from leases u where u.org_id = e.org_id and u.unit_type = e.target_type and u.unit_id = e.target_id
            and ${unitsSql(values, type, ref)})
        order by e.id for no key update`,
    ),
    readClock(db),
  ]);
  const lease = leases.find((row) => row.unit_id === target.id && row.unit_type === type);
  if (lease === undefined) throw new Error('the unit has no lease');
  const rivalRows = leases.filter((row) => row !== lease);
  return {
    target,
    now,
    lease,
    rivalRows,
    rivals: rivalRows.map(toHeldLease).filter((held) => held !== null),
    execution: executions.find((row) => row.target_id === target.id),
    rivalExecutions: executions.filter((row) => row.target_id !== target.id),
  };
}

/** For the rules. */
export const toOpenExecution = (row: ExecutionRow | undefined): OpenExecution | null =>
  row === undefined || row.state === 'completed'
    ? null
    : { state: row.state, offer: row.offer, stopped: row.stop_requested?.holder ?? null };

/** A first execution of a target, with nothing done yet. */
export const newExecution = (target: Target, now: string): ExecutionRow => ({
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
  stop_requested: null,
  forge: {},
  merged_at: null,
  last_event_seq: 0,
  told_seq: 0,
  created_at: now,
  updated_at: now,
  completed_at: null,
  version: 0,
});
