/** Passes the locks taken for work to its new holder. */
import { type Db, orgFilter, sql } from '@muster/driver';
import { type Actor } from '@muster/contract';
import { type Holder } from '../rules/acquire.ts';
import { StepBudget } from '../rules/glob-intersection.ts';
import { maxCompareSteps } from '../rules/lock-limits.ts';
import { findConflicts, undefinedIfTooComplex } from '../rules/lock-resources.ts';
import { type OtherHolderLock } from './granting-locks.ts';
import { deleteLock, isLiveLockSql, lockColumnList, type LockRow } from './locks.ts';

/** The holder to whom the work was offered. */
export interface NewLockHolder extends Holder {
  readonly actor: Actor;
}

/**
 * Passes the locks to the successor. They then last at least as long as the successor's lease. Locks of one
 * holder may overlap, but locks of two holders may not. A lock that overlaps with a remaining lock of the old
 * holder is therefore freed instead. The rows to pass are locked before the remaining locks are read. Grants
 * to the old holder lock these rows as well, so one of the two transactions sees the changes of the other.
 */
export async function transferLocks(
  db: Db,
  executionId: string,
  newHolder: NewLockHolder,
  leaseExpiresAt: string,
): Promise<void> {
  const [passing, staying] = await Promise.all([
    db.all(
      sql<LockRow>`select ${lockColumnList} from locks k where ${orgFilter('k')} and k.execution_id = ${executionId} order by k.id for update`,
    ),
    db.all(locksOfOthersQuery(executionId, newHolder)),
  ]);
  const isFree = (lock: LockRow): boolean =>
    undefinedIfTooComplex(() => findConflicts(lock, staying, new StepBudget(maxCompareSteps), 1))?.length ===
    0;
  for (const lock of passing)
    db.deferToCommit(
      isFree(lock) ? transferLockQuery(lock.id, newHolder, leaseExpiresAt) : deleteLock(lock.id),
    );
}

/**
 * Reads the locks of the project that belong neither to this work nor to the successor, and are live or tied
 * to work.
 */
function locksOfOthersQuery(executionId: string, newHolder: NewLockHolder) {
  const execution = sql.part`${executionId}::uuid`;
  return sql<OtherHolderLock>`select k.id, k.mode, k.resources from locks k
     where ${orgFilter('k')} and (${isLiveLockSql} or k.execution_id is not null)
       and k.execution_id is distinct from ${execution}
       and k.project_id = (select e.project_id from executions e where ${orgFilter('e')} and e.id = ${execution})
       and exists (select from locks p where ${orgFilter('p')} and p.execution_id = ${execution})
       and (k.member_id, k.agent_id, k.run_id) is distinct from
         (${newHolder.memberId}::uuid, ${newHolder.agentId}::uuid, ${newHolder.runId}::text)`;
}

const transferLockQuery = (
  lockId: string,
  { actor, memberId, agentId, runId }: NewLockHolder,
  leaseExpiresAt: string,
) =>
  sql`update locks set holder = ${actor}, member_id = ${memberId}, agent_id = ${agentId}, run_id = ${runId}, expires_at = greatest(expires_at, ${leaseExpiresAt})
     where ${orgFilter()} and id = ${lockId}`;
