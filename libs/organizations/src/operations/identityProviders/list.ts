import { makeShortenable, shortenPage } from '@muster/driver';
import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { listProviders } from '../../data/identity-providers.ts';
import { type IdentityProvidersConfig, redirectUrlOf } from './set-up.ts';

export const createListHandler = (config: IdentityProvidersConfig) =>
  handle(organizationsRegistry.identityProviders.list, async ({ params, caller, db }) => {
    const redirectUrl = redirectUrlOf(config, caller.orgId);
    const page = await listProviders(db, params, redirectUrl);
    return makeShortenable({ ...page, redirectUrl }, (count) => ({
      ...page,
      ...shortenPage(page, count),
      redirectUrl,
    }));
  });
