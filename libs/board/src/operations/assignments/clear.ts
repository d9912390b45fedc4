import { boardRegistry } from '@muster/board-registry';
import { handle, notFound } from '@muster/runtime';
import { deleteAssignment, lockAssignment } from '../../data/assignments.ts';
import { lockTarget } from '../../data/targets.ts';

export const clear = handle(boardRegistry.assignments.clear, async ({ params, targetId, db, emit }) => {
  const { targetType } = params;
  const [target, { member, agent }] = await Promise.all([
    lockTarget(db, { targetType, targetId }),
    lockAssignment(db, { targetType, targetId }),
  ]);
  if (member === null && agent === null) throw notFound();
  db.deferToCommit(deleteAssignment({ targetType, targetId: target.id }));
  emit('assignment.cleared', target, {
    previousMemberId: member?.id ?? null,
    previousAgentId: agent?.id ?? null,
  });
  return { deleted: true as const };
});
