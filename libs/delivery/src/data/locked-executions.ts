/** An execution with all that a write to it goes by, locked until the transaction ends. */
import { type Db, sqlQuery } from '@muster/database';
import { notFound } from '@muster/runtime';
import { executionList, type ExecutionRow } from './executions.ts';
import { clock, leaseList, type LeaseRow } from './leases.ts';
import { type Target, targetOfExecution } from './targets.ts';

export interface LockedRows {
  readonly execution: ExecutionRow;
  /** Of its target; undefined where the target never had one. */
  readonly lease: LeaseRow | undefined;
  /** By the database's clock, when both were locked. */
  readonly now: string;
}

export interface LockedExecution extends LockedRows {
  readonly target: Target;
}

/** The row is locked in a query of its own, so that what is selected beside it is worked out afterwards. */
const lockedRow = `(select e.org_id, ${executionList} from executions e where e.org_id = $1 and e.id = $2 for no key update) e`;
const rowAndClock = `${executionList}, ${clock}`;
const row = `select ${rowAndClock} from ${lockedRow}`;
const rowWithTarget = `select ${rowAndClock}, ${targetOfExecution.json} as target
  from ${lockedRow} ${targetOfExecution.tables}`;

type Clock = Pick<LockedRows, 'now'>;

/** Locks lease and execution. */
export async function lockExecutionRows(db: Db, orgId: string, executionId: string): Promise<LockedRows> {
  const [lease, { now, ...execution }] = await lock<Clock>(db, orgId, executionId, row);
  return { lease, execution, now };
}

/** The same with what it works on, for those who say what happened. */
export async function lockExecution(db: Db, orgId: string, executionId: string): Promise<LockedExecution> {
  const found = await lock<Clock & Pick<LockedExecution, 'target'>>(db, orgId, executionId, rowWithTarget);
  const [lease, { now, target, ...execution }] = found;
  return { lease, execution, now, target };
}

/** The lease first, then the execution, as everybody does; in one round trip. */
async function lock<More>(
  db: Db,
  orgId: string,
  executionId: string,
  execution: string,
): Promise<readonly [LeaseRow | undefined, ExecutionRow & More]> {
  const ids = [orgId, executionId];
  const [lease, found] = await Promise.all([
    db.find(
      sqlQuery<LeaseRow>(
        `select ${leaseList} from leases l
         where l.org_id = $1 and (l.unit_type, l.unit_id) =
           (select e.target_type, e.target_id from executions e where e.org_id = $1 and e.id = $2)
         for no key update`,
        ids,
      ),
    ),
    db.find(sqlQuery<ExecutionRow & More>(execution, ids)),
  ]);
  if (found === undefined) throw notFound();
  return [lease, found];
}
