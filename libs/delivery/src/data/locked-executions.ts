/** An execution with all that a write to it goes by, locked until the transaction ends. */
import { type Db, sqlQuery } from '@muster/database';
import { notFound } from '@muster/runtime';
import { executionList, type ExecutionRow } from './executions.ts';
import { leaseList, type LeaseRow, readClock } from './leases.ts';
import { getTargetOf, type Target } from './targets.ts';

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

/** The same with what it works on, for those who say what happened. */
export async function lockExecution(db: Db, orgId: string, executionId: string): Promise<LockedExecution> {
  const [rows, target] = await Promise.all([
    lockExecutionRows(db, orgId, executionId),
    getTargetOf(db, orgId, executionId),
  ]);
  return { ...rows, target };
}

/** Locks the lease first, then the execution, as everybody does; in one round trip. */
export async function lockExecutionRows(db: Db, orgId: string, executionId: string): Promise<LockedRows> {
  const [lease, execution, now] = await Promise.all([
    db.find(
      sqlQuery<LeaseRow>(
        `select ${leaseList} from leases l
         where l.org_id = $1 and (l.unit_type, l.unit_id) =
           (select e.target_type, e.target_id from executions e where e.org_id = $1 and e.id = $2)
         for no key update`,
        [orgId, executionId],
      ),
    ),
    db.find(
      sqlQuery<ExecutionRow>(
        `select ${executionList} from executions e where e.org_id = $1 and e.id = $2 for no key update`,
        [orgId, executionId],
      ),
    ),
    readClock(db),
  ]);
  if (execution === undefined) throw notFound();
  return { lease, execution, now };
}
