import { internalOperations } from '@muster/contract';
import { handle } from '@muster/runtime';
import { projectIdSql } from '@muster/tenancy';
import { endWorkInProject } from '../../data/ending-work.ts';
import { targetSubject } from '../../data/targets.ts';

export const endWork = handle(internalOperations.endWork, async ({ params, caller, db, emit }) => {
  const ended = await endWorkInProject(db, projectIdSql(params.projectId), caller.actor);
  for (const work of ended) {
    const { executionId, memberId: fromMemberId, agentId: fromAgentId } = work;
    emit('execution.completed', targetSubject(work), {
      executionId,
      outcome: 'canceled',
      fromMemberId,
      fromAgentId,
    });
  }
  return { ended: ended.length };
});
