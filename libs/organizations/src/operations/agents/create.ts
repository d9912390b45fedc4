import { maxAgentsPerMember } from '@muster/contract';
import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { toAgentEventSubject, countAgents, insertAgent, toAgent } from '../../data/agents.ts';
import { lockCallerMembership } from '../../data/members.ts';

export const create = handle(
  organizationsRegistry.agents.create,
  async ({ params, caller, db, emit, refuse }) => {
    const { memberId } = caller;
    const [, count] = await Promise.all([lockCallerMembership(db, caller), countAgents(db, memberId)]);
    if (count >= maxAgentsPerMember)
      throw refuse('limit_exceeded', { limit: 'agents', max: maxAgentsPerMember });

    const agent = await insertAgent(db, { memberId, name: params.name, slug: params.slug ?? null });
    emit('agent.created', toAgentEventSubject(agent), { memberId });
    return { agent: toAgent(agent) };
  },
);
