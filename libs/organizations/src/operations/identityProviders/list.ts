import { shortenable, shortened } from '@muster/driver';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listProviders } from '../../data/identity-providers.ts';
import { type IdentityProvidersSetUp, redirectUrlOf } from './set-up.ts';

export const listWith = (setUp: IdentityProvidersSetUp) =>
  handle(registry.identityProviders.list, async ({ params, caller, db }) => {
    const redirectUrl = redirectUrlOf(setUp, caller.orgId);
    const page = await listProviders(db, params, redirectUrl);
    return shortenable({ ...page, redirectUrl }, (count) => ({
      ...page,
      ...shortened(page, count),
      redirectUrl,
    }));
  });
