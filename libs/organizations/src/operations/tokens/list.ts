import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { requireReachToMember } from '../../data/reach.ts';
import { listManageableTokens } from '../../data/tokens.ts';

export const list = handle(organizationsRegistry.tokens.list, async ({ params, caller, db, access }) => {
  const [{ actingRole }, found] = await Promise.all([access(), listManageableTokens(db, caller, params)]);
  requireReachToMember(caller, actingRole, params.memberId);
  return found;
});
