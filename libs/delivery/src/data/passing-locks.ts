/** Passes the locks taken for work to its new holder. */
import { type Db, of, sql } from '@muster/driver';
import { type Actor } from '@muster/registry';
import { type Holder } from '../rules/acquire.ts';
import { Effort } from '../rules/glob-intersection.ts';
import { mostSteps } from '../rules/lock-limits.ts';
import { clashesWith, unlessTooIntricate } from '../rules/lock-resources.ts';
import { type HeldClaim } from './granting-locks.ts';
import { deleteLock, isLive, lockList, type LockRow } from './locks.ts';

/** The holder to whom the work was offered. */
export interface Successor extends Holder {
  readonly actor: Actor;
}

/**
 * Passes the locks to the successor. They then last at least as long as the successor's lease. Locks of one
 * holder may overlap, but locks of two holders may not. A lock that overlaps with a remaining lock of the old
 * holder is therefore freed instead. The rows to pass are locked before the remaining locks are read. Grants
 * to the old holder lock these rows as well, so one of the two transactions sees the changes of the other.
 */
export async function passLocks(
  db: Db,
  executionId: string,
  to: Successor,
  leaseExpiresAt: string,
): Promise<void> {
  const [passing, staying] = await Promise.all([
    db.all(
      sql<LockRow>`select ${lockList} from locks k where ${of('k')} and k.execution_id = ${executionId} order by k.id for update`,
    ),
    db.all(locksBeside(executionId, to)),
  ]);
  const isFree = (lock: LockRow): boolean =>
    unlessTooIntricate(() => clashesWith(lock, staying, new Effort(mostSteps), 1))?.length === 0;
  for (const lock of passing)
    db.later(isFree(lock) ? passLock(lock.id, to, leaseExpiresAt) : deleteLock(lock.id));
}

/**
 * Reads the locks of the project that belong neither to this work nor to the successor, and are live or tied
 * to work.
 */
function locksBeside(executionId: string, to: Successor) {
  const execution = sql.part`${executionId}::uuid`;
  return sql<HeldClaim>`select k.id, k.mode, k.resources from locks k
     where ${of('k')} and (${isLive} or k.execution_id is not null)
       and k.execution_id is distinct from ${execution}
       and k.project_id = (select e.project_id from executions e where ${of('e')} and e.id = ${execution})
       and exists (select from locks p where ${of('p')} and p.execution_id = ${execution})
       and (k.member_id, k.agent_id, k.run_id) is distinct from
         (${to.memberId}::uuid, ${to.agentId}::uuid, ${to.runId}::text)`;
}

const passLock = (lockId: string, { actor, memberId, agentId, runId }: Successor, leaseExpiresAt: string) =>
  sql`update locks set holder = ${actor}, member_id = ${memberId}, agent_id = ${agentId}, run_id = ${runId}, expires_at = greatest(expires_at, ${leaseExpiresAt})
     where ${of()} and id = ${lockId}`;
