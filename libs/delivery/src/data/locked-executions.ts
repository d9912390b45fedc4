/** An execution with everything that a write to it depends on, locked until the transaction ends. */
import { type Db, orgFilter, type Part, type Query, sql } from '@muster/driver';
import { notFound } from '@muster/runtime';
import { executionColumnList, type ExecutionRow } from './executions.ts';
import { clockColumn, leaseColumnList, type LeaseRow } from './leases.ts';
import { type DeliveryTarget, executionTargetSql } from './targets.ts';

export interface LockedExecutionRows {
  readonly execution: ExecutionRow;
  /** The target's lease; undefined if the target never had one. */
  readonly lease: LeaseRow | undefined;
  /** The database's time after the lease and the execution were locked. */
  readonly now: string;
}

export interface LockedExecution extends LockedExecutionRows {
  readonly target: DeliveryTarget;
}

/** Returns a subquery that locks the row. The columns selected outside of it are evaluated after the lock. */
const lockedExecutionSql = (id: string): Part => sql.part`(
  select e.org_id, /*guard: the execution as its holder reads it*/${executionColumnList}/*end*/ from executions e
  where ${orgFilter('e')} and e.id = ${id} /*guard: a holder's execution is locked*/for no key update/*end*/) e`;
const executionAndClockColumns = sql.part`${executionColumnList}, ${clockColumn}`;
const lockedExecutionQuery = <Row>(id: string) =>
  sql<Row>`select ${executionAndClockColumns} from ${lockedExecutionSql(id)}`;
const lockedExecutionWithTargetQuery = <Row>(
  id: string,
) => sql<Row>`select ${executionAndClockColumns}, ${executionTargetSql.json} as target
  from ${lockedExecutionSql(id)} ${executionTargetSql.tables}`;

type ClockColumn = Pick<LockedExecutionRows, 'now'>;

/** Locks lease and execution. */
export async function lockExecutionRows(db: Db, executionId: string): Promise<LockedExecutionRows> {
  const [lease, { now, ...execution }] = await lockLeaseThenExecution(
    db,
    executionId,
    lockedExecutionQuery<ExecutionRow & ClockColumn>(executionId),
  );
  return { lease, execution, now };
}

/** Locks the lease and the execution, and reads the target. Callers need the target to emit events. */
export async function lockExecution(db: Db, executionId: string): Promise<LockedExecution> {
  const found = await lockLeaseThenExecution(
    db,
    executionId,
    lockedExecutionWithTargetQuery<ExecutionRow & ClockColumn & Pick<LockedExecution, 'target'>>(executionId),
  );
  const [lease, { now, target, ...execution }] = found;
  return { lease, execution, now, target };
}

/** Locks the lease first, then the execution, as every transaction does; in one round trip. */
async function lockLeaseThenExecution<Row extends ExecutionRow>(
  db: Db,
  executionId: string,
  executionQuery: Query<Row>,
): Promise<readonly [LeaseRow | undefined, Row]> {
  const [lease, found] = await Promise.all([
    db.find(
      sql<LeaseRow>`select ${leaseColumnList} from leases l
         where ${orgFilter('l')} and /*guard: no clock in the check of a holder*/(l.unit_type, l.unit_id) =
           (select e.target_type, e.target_id from executions e where ${orgFilter('e')} and e.id = ${executionId})/*end*/
         /*guard: a holder's lease is locked*/for no key update/*end*/`,
    ),
    db.find(executionQuery),
  ]);
  if (found === undefined) throw notFound();
  return [lease, found];
}
