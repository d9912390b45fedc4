import { mostAgents, registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutAgent, countAgents, insertAgent, toAgent } from '../../data/agents.ts';
import { lockSelf } from '../../data/members.ts';

export const create = handle(registry.agents.create, async ({ params, caller, db, emit, refuse }) => {
  const { memberId } = caller;
  const [, count] = await Promise.all([lockSelf(db, caller), countAgents(db, memberId)]);
  if (count >= mostAgents) throw refuse('limit_exceeded', { limit: 'agents', max: mostAgents });

  const agent = await insertAgent(db, { memberId, name: params.name, slug: params.slug ?? null });
  emit('agent.created', aboutAgent(agent), { memberId });
  return { agent: toAgent(agent) };
});
