import { getEntitlement } from '@muster/organizations';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';

export const orgEntitlement = handle(registry.billing.orgEntitlement, async ({ db }) => ({
  entitlement: await getEntitlement(db),
}));
