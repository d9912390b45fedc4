import { makeShortenable, shortenPage } from '@muster/driver';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listProviders } from '../../data/identity-providers.ts';
import { type IdentityProvidersConfig, redirectUrlOf } from './set-up.ts';

export const createListHandler = (config: IdentityProvidersConfig) =>
  handle(registry.identityProviders.list, async ({ params, caller, db }) => {
    const redirectUrl = redirectUrlOf(config, caller.orgId);
    const page = await listProviders(db, params, redirectUrl);
    return makeShortenable({ ...page, redirectUrl }, (count) => ({
      ...page,
      ...shortenPage(page, count),
      redirectUrl,
    }));
  });
