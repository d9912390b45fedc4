import { forbidden } from '@muster/contract';
import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { toAgentEventSubject, lockAgentToRetire, retireAgent, toAgent } from '../../data/agents.ts';
import { isAdmin } from '../../data/reach.ts';

export const retire = handle(
  organizationsRegistry.agents.retire,
  async ({ params, caller, db, access, emit }) => {
    const [{ actingRole }, agent] = await Promise.all([access(), lockAgentToRetire(db, params.agentId)]);
    if (agent.member_id !== caller.memberId && !isAdmin(caller, actingRole)) throw forbidden('not_own_agent');
    if (agent.retired_at !== null) return { agent: toAgent(agent) };

    const retired = await retireAgent(db, agent);
    emit('agent.retired', toAgentEventSubject(retired), { memberId: retired.member_id });
    return { agent: toAgent(retired) };
  },
);
