import { requireVersion } from '@muster/driver';
import { organizationsRegistry } from '@muster/organizations-registry';
import { handle, notFound } from '@muster/runtime';
import { getOrganizationKey, outboxRow } from '@muster/tenancy';
import {
  clearCheckResult,
  type DomainRow,
  listDomains,
  lockProviders,
  type ProviderRow,
  providers,
  providerSecretOwner,
  setProviderDomains,
  toProvider,
} from '../../data/identity-providers.ts';
import { computeDomainProof } from '../../rules/domain-proofs.ts';
import { type IdentityProvidersConfig, redirectUrlOf, requireAllowedIssuer } from './set-up.ts';

const maxProviders = 20;

export const createUpsertHandler = (config: IdentityProvidersConfig) =>
  handle(organizationsRegistry.identityProviders.upsert, async ({ params, caller, db, access, refuse }) => {
    const { providerId, name, issuer, clientId, clientSecret, trustsAddresses, expectedVersion } = params;
    requireAllowedIssuer(config, issuer);
    const [{ at }, rows, had, organizationKey] = await Promise.all([
      access(),
      lockProviders(db),
      listDomains(db),
      getOrganizationKey(db),
    ]);
    const same = rows.find((row) => row.issuer === issuer && row.client_id === clientId);
    const known = providerId === undefined ? same : rows.find(({ id }) => id === providerId);
    if (known === undefined && (providerId !== undefined || expectedVersion !== undefined)) throw notFound();
    if (same !== undefined && same.id !== known?.id) throw refuse('already_exists');
    if (known === undefined && rows.length >= maxProviders)
      throw refuse('limit_exceeded', { limit: 'identityProviders', max: maxProviders });

    const sealed = (id: string): Buffer | null =>
      clientSecret == null
        ? null
        : config.seals.encrypt(providerSecretOwner(organizationKey, id), clientSecret);
    const wanted = { issuer, clientId, name, trustsAddresses };
    let row: ProviderRow;
    if (known === undefined) {
      const made = providers.make(
        { ...wanted, name: name ?? new URL(issuer).host, createdBy: caller.actor },
        at,
      );
      row = { ...made, secret: sealed(made.id) };
      db.deferToCommit(providers.insert(row));
    } else {
      requireVersion(known, expectedVersion);
      // The secret belongs to the issuer. It is kept only if the call gives no new secret and does not change
      // the issuer.
      const staysAsItIs = clientSecret === undefined && known.issuer === issuer;
      const { changed } = providers.changed(known, wanted, at);
      row = providers.save(
        db,
        known,
        {
          ...{ name: changed.name, issuer, client_id: clientId, trusts_addresses: changed.trusts_addresses },
          secret: staysAsItIs ? known.secret : sealed(known.id),
        },
        at,
      );
    }
    const domains = [...new Set(params.domains)]
      .toSorted()
      .map((domain) => ({ domain, proof: computeDomainProof(organizationKey, domain) }));
    for (const query of setProviderDomains(row.id, domains)) db.deferToCommit(query);
    db.deferToCommit(clearCheckResult(row.id));
    db.deferToCommit(outboxRow('identityProvider.check', { providerId: row.id }));
    const now = domains.map(({ domain, proof }): DomainRow => {
      const before = had.find((one) => one.provider_id === row.id && one.domain === domain);
      return before ?? { provider_id: row.id, domain, proof, proven_at: null, missing_since: null };
    });
    const begun = { ...row, checked_at: null, problem: null };
    return { provider: toProvider(begun, now, redirectUrlOf(config, caller.orgId)) };
  });
