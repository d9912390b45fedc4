import { inside } from '@muster/registry';
import { handle } from '@muster/runtime';
import { projectIdOf } from '@muster/tenancy';
import { endWorkIn } from '../../data/ending-work.ts';
import { aboutTarget } from '../../data/targets.ts';

export const endWork = handle(inside.endWork, async ({ params, caller, db, emit }) => {
  const ended = await endWorkIn(db, projectIdOf(params.projectId), caller.actor);
  for (const work of ended) {
    const { executionId, memberId: fromMemberId, agentId: fromAgentId } = work;
    emit('execution.completed', aboutTarget(work), {
      executionId,
      outcome: 'canceled',
      fromMemberId,
      fromAgentId,
    });
  }
  return { ended: ended.length };
});
