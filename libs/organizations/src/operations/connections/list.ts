import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { listConnections } from '../../data/connections.ts';
import { requireReachToMember } from '../../data/reach.ts';

export const list = handle(organizationsRegistry.connections.list, async ({ params, caller, db, access }) => {
  const [{ actingRole }, found] = await Promise.all([access(), listConnections(db, caller, params)]);
  requireReachToMember(caller, actingRole, params.memberId);
  return found;
});
