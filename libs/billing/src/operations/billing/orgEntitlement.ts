import { getEntitlement } from '@muster/organizations';
import { billingRegistry } from '@muster/billing-registry';
import { handle } from '@muster/runtime';

export const orgEntitlement = handle(billingRegistry.billing.orgEntitlement, async ({ db }) => ({
  entitlement: await getEntitlement(db),
}));
