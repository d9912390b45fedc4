/** The locks that were taken for work, when the work is handed on. */
import { type Db, sqlQuery, Values } from '@muster/database';
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
 * The rows are locked before the others are read: the old holder's own grants lock them as well, so of the two one sees
 * what the other did.
 */
export async function passLocks(db: Db, orgId: string, executionId: string, to: Successor): Promise<void> {
  const [passing, staying] = await Promise.all([
    db.all(
      sqlQuery<LockRow>(
        `select ${lockList} from locks k where k.org_id = $1 and k.execution_id = $2 order by k.id for update`,
        [orgId, executionId],
      ),
    ),
    db.all(locksBeside(orgId, executionId, to)),
  ]);
  const isFree = (lock: LockRow): boolean =>
    unlessTooIntricate(() => clashesWith(lock, staying, new Effort(mostSteps), 1))?.length === 0;
  for (const lock of passing)
    db.later(isFree(lock) ? passLock(orgId, lock.id, to) : deleteLock(orgId, lock.id));
}

/** The live locks of the project that are neither of this work nor the successor's. */
function locksBeside(orgId: string, executionId: string, to: Successor) {
  const values = new Values(orgId);
  const execution = values.uuid(executionId);
  return sqlQuery<HeldClaim>(
    `select k.id, k.mode, k.resources from locks k
     where k.org_id = ${values.org} and ${isLive} and k.execution_id is distinct from ${execution}
       and k.project_id = (select e.project_id from executions e where e.org_id = ${values.org} and e.id = ${execution})
       and exists (select from locks p where p.org_id = ${values.org} and p.execution_id = ${execution})
       and (k.member_id, k.agent_id, k.run_id) is distinct from
         (${values.uuid(to.memberId)}, ${values.$(to.agentId)}::uuid, ${values.$(to.runId)}::text)`,
    values.list,
  );
}

const passLock = (orgId: string, lockId: string, { actor, memberId, agentId, runId }: Successor) =>
  sqlQuery(
    'update locks set holder = $3, member_id = $4, agent_id = $5, run_id = $6 where org_id = $1 and id = $2',
    [orgId, lockId, actor, memberId, agentId, runId],
  );
