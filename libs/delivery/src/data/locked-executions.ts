/** An execution with all that a write to it goes by, locked until the transaction ends. */
import { type Db, sqlQuery } from '@muster/database';
import { notFound } from '@muster/runtime';
import { executionList, type ExecutionRow, leaseList } from './executions.ts';
import { type LeaseRow, readClock } from './leases.ts';
import { getTargetOf, type Target } from './targets.ts';

export interface LockedExecution {
  readonly execution: ExecutionRow;
  /** Of its target; undefined where the target never had one. */
  readonly lease: LeaseRow | undefined;
  /** By the database's clock, when both were locked. */
  readonly now: string;
  readonly target: Target;
}

/** Locks the lease first, then the execution, as everybody does; in one round trip. */
export async function lockExecution(db: Db, orgId: string, executionId: string): Promise<LockedExecution> {
  const [lease, execution, now, target] = await Promise.all([
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
    getTargetOf(db, orgId, executionId),
  ]);
  if (execution === undefined) throw notFound();
  return { lease, execution, now, target };
}
