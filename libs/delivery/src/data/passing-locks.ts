/** The locks that were taken for work, when the work is handed on. */
import { type Db, of, sql } from '@muster/driver';
import { type Actor } from '@muster/registry';
import { type Holder } from '../rules/acquire.ts';
import { Effort } from '../rules/glob-intersection.ts';
import { mostSteps } from '../rules/lock-limits.ts';
import { clashesWith, unlessTooIntricate } from '../rules/lock-resources.ts';
import { type HeldClaim } from './granting-locks.ts';
import { deleteLock, isLive, lockList, type LockRow } from './locks.ts';

/** To whom the work was offered. */
export interface Successor extends Holder {
  readonly actor: Actor;
}

/**
 * They come along to whom the work was offered. But one holder's own locks may overlap, and two holders' may not: a lock
 * that overlaps with one that stays behind is freed instead.
 *
 * They last as long as the new holder's lease then, at least.
 *
 * The rows are locked before the others are read: the old holder's own grants lock them as well, so of the two one sees
 * what the other did.
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

/** The locks of the project that are neither of this work nor the successor's: live, or such as others may go on with. */
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
