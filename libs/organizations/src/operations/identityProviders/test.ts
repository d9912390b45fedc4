import { organizationsRegistry } from '@muster/organizations-registry';
import { handle, notFound } from '@muster/runtime';
import { outboxRow } from '@muster/tenancy';
import { clearCheckResult, listDomains, lockProviders, toProvider } from '../../data/identity-providers.ts';
import { type IdentityProvidersConfig, redirectUrlOf } from './set-up.ts';

export const createTestHandler = (config: IdentityProvidersConfig) =>
  handle(organizationsRegistry.identityProviders.test, async ({ params: { providerId }, caller, db }) => {
    const [rows, domains] = await Promise.all([lockProviders(db), listDomains(db)]);
    const row = rows.find(({ id }) => id === providerId);
    if (row === undefined) throw notFound();
    db.deferToCommit(clearCheckResult(providerId));
    db.deferToCommit(outboxRow('identityProvider.check', { providerId }));
    const begun = { ...row, checked_at: null, problem: null };
    return { provider: toProvider(begun, domains, redirectUrlOf(config, caller.orgId)) };
  });
