/**
 * Checks identity providers: their metadata, and whether the organization controls the domains that they are
 * to authenticate.
 */
import { Resolver } from 'node:dns/promises';
import { type Pool } from '@muster/driver';
import { type PayloadOf } from '@muster/jobs';
import {
  requestProviderChecks,
  toDomainTxtRecord,
  storeCheckResult,
  organizationsToCheckQuery,
  providerSecretOwner,
  readProvider,
} from '@muster/organizations';
import { type SecretCipher } from '@muster/outbound';
import { discoverIssuer, innermostMessageOf } from '@muster/outbound/issuers';
import { type Sender } from '@muster/outbound/sender';
import { acrossOrganizations, inOrganizationAsSystem } from '@muster/tenancy';
import { type RowWorker } from './perform.ts';

export interface IssuerCheckOptions {
  readonly sender: Sender;
  readonly seals: SecretCipher;
  /** DNS servers to query; if empty, the machine's own. */
  readonly dnsServers: readonly string[];
}

const dnsTimeoutMillis = 5_000;
const dnsAttempts = 2;

/** DNS errors that mean that the record does not exist. */
const missingRecordCodes = new Set(['ENOTFOUND', 'ENODATA']);

/** Returns true if the name has a TXT record with this text; undefined if the DNS lookup failed. */
async function hasRecord(resolver: Resolver, name: string, value: string): Promise<boolean | undefined> {
  try {
    // DNS splits a long text into several strings.
    return (await resolver.resolveTxt(name)).some((pieces) => pieces.join('') === value);
  } catch (error) {
    return missingRecordCodes.has((error as NodeJS.ErrnoException).code ?? '') ? false : undefined;
  }
}

export const checkIdentityProvider =
  ({ sender, seals, dnsServers }: IssuerCheckOptions): RowWorker<PayloadOf<'identityProvider.check'>> =>
  async ({ db, payload: { providerId } }) => {
    const found = await readProvider(db, providerId);
    if (found === undefined) return undefined;
    const { row, domains, organizationKey } = found;
    return async () => {
      const resolver = new Resolver({ timeout: dnsTimeoutMillis, tries: dnsAttempts });
      if (dnsServers.length > 0) resolver.setServers(dnsServers);
      const secret = row.secret && seals.decrypt(providerSecretOwner(organizationKey, row.id), row.secret);
      const ask = async (): Promise<string | null> => {
        if (secret === undefined) return 'none of the keys in SECRETS_KEY can decrypt its secret';
        const { issuer, client_id: clientId } = row;
        return discoverIssuer(sender, { issuer, clientId, clientSecret: secret }).then(
          () => null,
          innermostMessageOf,
        );
      };
      const [problem, looked] = await Promise.all([
        ask(),
        Promise.all(
          domains.map(async ({ domain, proof }) => {
            const { name, value } = toDomainTxtRecord(domain, proof);
            return { domain, isThere: await hasRecord(resolver, name, value) };
          }),
        ),
      ]);
      const those = (wanted: boolean): string[] =>
        looked.filter(({ isThere }) => isThere === wanted).map(({ domain }) => domain);
      return (after) =>
        storeCheckResult(after, row, { problem, provenDomains: those(true), unprovenDomains: those(false) });
    };
  };

/**
 * Requests a check of every provider with domains. If DNS records are gone, their organizations are notified.
 */
export async function requestAllProviderChecks(pool: Pool, signal: AbortSignal): Promise<void> {
  const concerned = await acrossOrganizations(pool, (db) => db.all(organizationsToCheckQuery));
  for (const { id } of concerned) {
    signal.throwIfAborted();
    await inOrganizationAsSystem(pool, id, requestProviderChecks);
  }
}
