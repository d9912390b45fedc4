/** An execution with everything that a write to it depends on, locked until the transaction ends. */
import { type Db, of, type Part, type Query, sql } from '@muster/driver';
import { notFound } from '@muster/runtime';
import { executionList, type ExecutionRow } from './executions.ts';
import { clock, leaseList, type LeaseRow } from './leases.ts';
import { type DeliveryTarget, targetOfExecution } from './targets.ts';

export interface LockedRows {
  readonly execution: ExecutionRow;
  /** The target's lease; undefined if the target never had one. */
  readonly lease: LeaseRow | undefined;
  /** The database's time after the lease and the execution were locked. */
  readonly now: string;
}

export interface LockedExecution extends LockedRows {
  readonly target: DeliveryTarget;
}

/** Returns a subquery that locks the row. The columns selected outside of it are evaluated after the lock. */
const lockedRow = (id: string): Part => sql.part`(
  select e.org_id, /*guard: the execution as its holder reads it*/${executionList}/*end*/ from executions e
  where ${of('e')} and e.id = ${id} /*guard: a holder's execution is locked*/for no key update/*end*/) e`;
const rowAndClock = sql.part`${executionList}, ${clock}`;
const row = <Row>(id: string) => sql<Row>`select ${rowAndClock} from ${lockedRow(id)}`;
const rowWithTarget = <Row>(id: string) => sql<Row>`select ${rowAndClock}, ${targetOfExecution.json} as target
  from ${lockedRow(id)} ${targetOfExecution.tables}`;

type Clock = Pick<LockedRows, 'now'>;

/** Locks lease and execution. */
export async function lockExecutionRows(db: Db, executionId: string): Promise<LockedRows> {
  const [lease, { now, ...execution }] = await lock(db, executionId, row<ExecutionRow & Clock>(executionId));
  return { lease, execution, now };
}

/** Locks the lease and the execution, and reads the target. Callers need the target to emit events. */
export async function lockExecution(db: Db, executionId: string): Promise<LockedExecution> {
  const found = await lock(
    db,
    executionId,
    rowWithTarget<ExecutionRow & Clock & Pick<LockedExecution, 'target'>>(executionId),
  );
  const [lease, { now, target, ...execution }] = found;
  return { lease, execution, now, target };
}

/** Locks the lease first, then the execution, as every transaction does; in one round trip. */
async function lock<Row extends ExecutionRow>(
  db: Db,
  executionId: string,
  execution: Query<Row>,
): Promise<readonly [LeaseRow | undefined, Row]> {
  const [lease, found] = await Promise.all([
    db.find(
      sql<LeaseRow>`select ${leaseList} from leases l
         where ${of('l')} and /*guard: no clock in the check of a holder*/(l.unit_type, l.unit_id) =
           (select e.target_type, e.target_id from executions e where ${of('e')} and e.id = ${executionId})/*end*/
         /*guard: a holder's lease is locked*/for no key update/*end*/`,
    ),
    db.find(execution),
  ]);
  if (found === undefined) throw notFound();
  return [lease, found];
}
