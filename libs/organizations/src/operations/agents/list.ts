import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { listAgents } from '../../data/agents.ts';
import { requireReachToMember } from '../../data/reach.ts';

export const list = handle(organizationsRegistry.agents.list, async ({ params, caller, db, access }) => {
  const [{ actingRole }, found] = await Promise.all([access(), listAgents(db, caller, params)]);
  requireReachToMember(caller, actingRole, params.memberId);
  return found;
});
