import { projectRank as rankOf } from '@muster/contract';
import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { lockExecutionOfLock, signalLockConflicts } from '../../data/lock-conflicts.ts';
import { lockSubject, deleteLock, lockLockRow } from '../../data/locks.ts';

export const release = handle(
  deliveryRegistry.locks.release,
  async ({ params, caller, db, projectRank, requireGround, emit }) => {
    const { actor } = caller;
    const [, lock, rank] = await Promise.all([
      lockExecutionOfLock(db, params.lockId),
      lockLockRow(db, params.lockId),
      projectRank(),
    ]);
    const isHolder = lock.member_id === caller.memberId && lock.agent_id === caller.agentId;
    await requireGround(isHolder && 'holder', rank >= rankOf('lead') && 'projectLead');
    db.deferToCommit(deleteLock(lock.id));
    const { execution_id: executionId, resources, mode } = lock;
    if (!isHolder && executionId !== null) {
      const data = { cause: 'released', lockId: lock.id, mode, resources, paths: [] };
      db.deferToCommit(signalLockConflicts(actor, [{ executionId, data }]));
    }
    emit('lock.released', lockSubject(lock), {
      resources,
      fromMemberId: isHolder ? null : lock.member_id,
      fromAgentId: isHolder ? null : lock.agent_id,
    });
    return { deleted: true as const };
  },
);
