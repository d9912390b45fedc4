/** All that decides an acquire, locked in the order in which everybody locks, and read when it was. */
import { newId, type Db, sqlQuery, Values } from '@muster/database';
import { type ExecutionTarget } from '@muster/registry';
import { type HeldLease, type OpenExecution } from '../rules/acquire.ts';
import { executionList, type ExecutionRow } from './executions.ts';
import { insertUnits, leaseList, type LeaseRow, readClock, toHeldLease } from './leases.ts';
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

/** SQL for a set of `(type, id, project_id)`: the unit and those that exclude it, a story's group or a group's stories. */
function unitsSql(values: Values, type: ExecutionTarget, ref: string): string {
  const id = targetIdSql(values, type, ref);
  return type === 'story'
    ? `(select 'story' as type, s.id, s.project_id from stories s where s.org_id = ${values.org} and s.id = ${id}
        union all
        select 'delivery_group', m.group_id, m.project_id from delivery_group_stories m
        where m.org_id = ${values.org} and m.story_id = ${id} and m.open)`
    : `(select 'delivery_group' as type, g.id, g.project_id from delivery_groups g
        where g.org_id = ${values.org} and g.id = ${id}
        union all
        select 'story', m.story_id, m.project_id from delivery_group_stories m
        where m.org_id = ${values.org} and m.group_id = ${id} and m.open)`;
}

/**
 * Their ids, as a list that is there before any row is locked. Joined instead, a row that changed while it was waited
 * for is looked for again in the join, and by some plans not found: then it is neither locked nor read.
 */
const idsSql = (values: Values, type: ExecutionTarget, ref: string): string =>
  `any (array(select u.id from ${unitsSql(values, type, ref)} u))`;

/**
 * Locks target, leases and executions. A group's stories are held as well, so that none is moved away meanwhile. Every
 * unit has a row before any is locked: one that somebody just made and nobody else sees yet would exclude nobody.
 */
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
          (values) => `select s.id from stories s where s.org_id = ${values.org} and s.id = any (array
            (select m.story_id from delivery_group_stories m
              where m.org_id = ${values.org} and m.group_id = ${targetIdSql(values, type, ref)} and m.open))
            order by s.id for share of s`,
        ),
    ask((values) => insertUnits(values, unitsSql(values, type, ref))),
    ask<LeaseRow>(
      (values) => `select ${leaseList} from leases l
        where l.org_id = ${values.org}
          and l.unit_type in ('story', 'delivery_group') and l.unit_id = ${idsSql(values, type, ref)}
        order by l.unit_type, l.unit_id for no key update`,
    ),
    ask<ExecutionRow>(
      (values) => `select ${executionList} from executions e
        where e.org_id = ${values.org} and e.state <> 'completed'
          and e.target_type in ('story', 'delivery_group') and e.target_id = ${idsSql(values, type, ref)}
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
