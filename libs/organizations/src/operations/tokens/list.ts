import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { requireReach } from '../../data/reach.ts';
import { listTokensOf } from '../../data/tokens.ts';

export const list = handle(registry.tokens.list, async ({ params, caller, db, access }) => {
  const [{ actingRole }, found] = await Promise.all([access(), listTokensOf(db, caller, params)]);
  requireReach(caller, actingRole, params.memberId);
  return found;
});
