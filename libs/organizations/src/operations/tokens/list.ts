import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { requireReachToMember } from '../../data/reach.ts';
import { listManageableTokens } from '../../data/tokens.ts';

export const list = handle(registry.tokens.list, async ({ params, caller, db, access }) => {
  const [{ actingRole }, found] = await Promise.all([access(), listManageableTokens(db, caller, params)]);
  requireReachToMember(caller, actingRole, params.memberId);
  return found;
});
