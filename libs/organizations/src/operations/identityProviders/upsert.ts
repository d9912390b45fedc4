import { requireVersion } from '@muster/driver';
import { registry } from '@muster/registry';
import { handle, notFound } from '@muster/runtime';
import { getOrganizationKey, outboxRow } from '@muster/tenancy';
import {
  beginCheck,
  type DomainRow,
  listDomains,
  lockProviders,
  type ProviderRow,
  providers,
  providerSecretOwner,
  setDomains,
  toProvider,
} from '../../data/identity-providers.ts';
import { domainProof } from '../../rules/domain-proofs.ts';
import { type IdentityProvidersSetUp, redirectUrlOf, requireIssuer } from './set-up.ts';

const mostProviders = 20;

export const upsertWith = (setUp: IdentityProvidersSetUp) =>
  handle(registry.identityProviders.upsert, async ({ params, caller, db, access, refuse }) => {
    const { providerId, name, issuer, clientId, clientSecret, trustsAddresses, expectedVersion } = params;
    requireIssuer(setUp, issuer);
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
    if (known === undefined && rows.length >= mostProviders)
      throw refuse('limit_exceeded', { limit: 'identityProviders', max: mostProviders });

    const sealed = (id: string): Buffer | null =>
      clientSecret == null ? null : setUp.seals.seal(providerSecretOwner(organizationKey, id), clientSecret);
    const wanted = { issuer, clientId, name, trustsAddresses };
    let row: ProviderRow;
    if (known === undefined) {
      const made = providers.make(
        { ...wanted, name: name ?? new URL(issuer).host, createdBy: caller.actor },
        at,
      );
      row = { ...made, secret: sealed(made.id) };
      db.later(providers.insert(row));
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
      .map((domain) => ({ domain, proof: domainProof(organizationKey, domain) }));
    for (const query of setDomains(row.id, domains)) db.later(query);
    db.later(beginCheck(row.id));
    db.later(outboxRow('identityProvider.check', { providerId: row.id }));
    const now = domains.map(({ domain, proof }): DomainRow => {
      const before = had.find((one) => one.provider_id === row.id && one.domain === domain);
      return before ?? { provider_id: row.id, domain, proof, proven_at: null, missing_since: null };
    });
    const begun = { ...row, checked_at: null, problem: null };
    return { provider: toProvider(begun, now, redirectUrlOf(setUp, caller.orgId)) };
  });
