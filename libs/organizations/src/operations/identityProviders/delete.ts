import { Policy } from '@muster/contract';
import { organizationsRegistry } from '@muster/organizations-registry';
import { handle, notFound } from '@muster/runtime';
import { deleteProvider, lockProviders } from '../../data/identity-providers.ts';
import { lockOrg } from '../../data/orgs.ts';

export const deleteOperation = handle(
  organizationsRegistry.identityProviders.delete,
  async ({ params: { providerId }, db, refuse }) => {
    const [org, rows] = await Promise.all([lockOrg(db), lockProviders(db)]);
    if (!rows.some(({ id }) => id === providerId)) throw notFound();
    const { allowedIdentityProviders } = Policy.parse(org.policy);
    if (allowedIdentityProviders.includes(providerId))
      throw refuse('policy', { unmet: [{ gate: 'allowedIdentityProviders', allowedIdentityProviders }] });
    db.deferToCommit(deleteProvider(providerId));
    return { deleted: true as const };
  },
);
