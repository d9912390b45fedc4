import { getEntitlement } from '@muster/people';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';

export const orgEntitlement = handle(registry.billing.orgEntitlement, async ({ caller, db }) => ({
  entitlement: await getEntitlement(db, caller.orgId),
}));
