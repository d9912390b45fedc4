/** Identity providers at which people sign in, and the e-mail domains that each provider is trusted for. */
import {
  CursorId,
  type Db,
  decodeCursor,
  orgFilter,
  currentOrgId,
  pageOfRows,
  type Query,
  defineRecord,
  type RowOf,
  sql,
} from '@muster/driver';
import { type SecretOwner } from '@muster/outbound';
import { type IdentityProvider, type ParamsOf } from '@muster/contract';
import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { getOrganizationKey, outboxRow } from '@muster/tenancy';
import { z } from 'zod';
import { requestDomainMails } from '../domains/mail.ts';
import { domainGraceDays } from '../rules/domain-mail.ts';
import { toDomainTxtRecord } from '../rules/domain-proofs.ts';

export const providers = defineRecord('identity_providers', 'p', {
  name: { set: true },
  issuer: { set: true },
  client_id: { set: true },
  secret: { hidden: true, initial: null },
  trusts_addresses: { set: true, initial: false },
  created_by: { hidden: true },
  checked_at: { hidden: true, initial: null },
  problem: { hidden: true, initial: null },
});
export type ProviderRow = RowOf<typeof providers>;

export interface DomainRow {
  readonly provider_id: string;
  readonly domain: string;
  readonly proof: string;
  readonly proven_at: string | null;
  readonly missing_since: string | null;
}

export const providerSecretOwner = (organizationKey: Buffer, providerId: string): SecretOwner => ({
  organizationKey,
  name: `identity provider ${providerId} secret`,
});

export const toProvider = (
  row: ProviderRow,
  domains: readonly DomainRow[],
  redirectUrl: string,
): IdentityProvider => ({
  ...providers.shown(row),
  hasSecret: row.secret !== null,
  domains: domains
    .filter(({ provider_id: id }) => id === row.id)
    .map(({ domain, proof, proven_at: provenAt, missing_since: missingSince }) => ({
      domain,
      record: toDomainTxtRecord(domain, proof),
      provenAt,
      missingSince,
    })),
  redirectUrl,
  check: row.checked_at === null ? null : { at: row.checked_at, problem: row.problem },
});

/** Lists the domains of all providers, which are few. */
export const listDomains = (db: Db): Promise<DomainRow[]> =>
  db.all(
    sql<DomainRow>`select d.provider_id, d.domain, d.proof, d.proven_at, d.missing_since from identity_provider_domains d
       where ${orgFilter('d')} order by d.domain`,
  );

const Cursor = z.tuple([CursorId]);

export async function listProviders(
  db: Db,
  { limit, cursor }: ParamsOf<OrganizationsRegistry['identityProviders']['list']>,
  redirectUrl: string,
): Promise<{ items: IdentityProvider[]; nextCursor: string | null }> {
  const after = decodeCursor(cursor, Cursor);
  const beyond = after === undefined ? sql.empty : sql.part`and p.id > ${after[0]}::uuid`;
  const [rows, domains] = await Promise.all([
    db.all(
      sql<ProviderRow>`select ${providers.list} from identity_providers p
         where ${orgFilter('p')} ${beyond} order by p.id limit ${limit + 1}`,
    ),
    listDomains(db),
  ]);
  return pageOfRows(
    rows,
    limit,
    (row) => [row.id],
    (row) => toProvider(row, domains, redirectUrl),
  );
}

/** Locks all providers of the organization, so that a call that changes one knows all of them. */
export const lockProviders = (db: Db): Promise<ProviderRow[]> =>
  db.all(
    sql<ProviderRow>`select ${providers.list} from identity_providers p where ${orgFilter('p')} order by p.id for no key update`,
  );

/**
 * Sets the domains of a provider. Existing domains keep their proof, and new ones are stored with the proof
 * to publish in DNS.
 */
export const setProviderDomains = (
  providerId: string,
  domains: readonly { readonly domain: string; readonly proof: string }[],
): readonly Query<unknown>[] => [
  sql`delete from identity_provider_domains
      where ${orgFilter()} and provider_id = ${providerId} and not domain = any (${domains.map(({ domain }) => domain)}::text[])`,
  sql`insert into identity_provider_domains (org_id, provider_id, domain, proof)
      select ${currentOrgId}, ${providerId}, wanted.domain, wanted.proof
      from unnest(${domains.map(({ domain }) => domain)}::text[], ${domains.map(({ proof }) => proof)}::text[]) wanted (domain, proof)
      on conflict do nothing`,
];

/** Starts a new check of a provider by clearing the last result. It is not an edit, so the version stays. */
export const clearCheckResult = (providerId: string): Query<unknown> =>
  sql`update identity_providers set checked_at = null, problem = null where ${orgFilter()} and id = ${providerId}`;

/**
 * Stores the result of a check. It does nothing if the provider was changed since the check began, because
 * that change requested another check. A proven domain whose DNS record is missing stays valid for a grace
 * period. Mails are sent when that period begins and when it ends.
 */
export async function storeCheckResult(
  db: Db,
  { id, version }: Pick<ProviderRow, 'id' | 'version'>,
  { problem, provenDomains, unprovenDomains }: ProviderCheckResult,
): Promise<void> {
  const isSame = sql.part`exists (select from identity_providers p where ${orgFilter('p')} and p.id = ${id} and p.version = ${version})`;
  db.deferToCommit(
    sql`update identity_providers set checked_at = now(), problem = ${problem}
        where ${orgFilter()} and id = ${id} and version = ${version}`,
  );
  db.deferToCommit(
    sql`update identity_provider_domains set proven_at = coalesce(proven_at, now()), missing_since = null
        where ${orgFilter()} and provider_id = ${id} and domain = any (${provenDomains}::text[]) and ${isSame}`,
  );
  const isOver = sql.part`missing_since <= now() - make_interval(days => ${sql.literal(domainGraceDays)})`;
  const missing = await db.all(
    sql<{ domain: string }>`update identity_provider_domains
        set missing_since = coalesce(missing_since, now()), proven_at = case when ${isOver} then null else proven_at end
        where ${orgFilter()} and provider_id = ${id} and domain = any (${unprovenDomains}::text[]) and ${isSame}
          and proven_at is not null and (missing_since is null or ${isOver})
        returning domain`,
  );
  for (const { domain } of missing) await requestDomainMails(db, { providerId: id, domain });
}

/** A query for the organizations with proven domains, whose DNS records are checked again regularly. */
export const organizationsToCheckQuery = sql<{
  id: string;
}>`select distinct d.org_id as id from identity_provider_domains d
  where d.proven_at is not null`;

/** Requests a check of each provider of the organization that has a proven domain. Returns their number. */
export async function requestProviderChecks(db: Db): Promise<number> {
  const rows = await db.all(
    sql<{ id: string }>`select distinct d.provider_id as id from identity_provider_domains d
       where ${orgFilter('d')} and d.proven_at is not null`,
  );
  for (const { id } of rows) db.deferToCommit(outboxRow('identityProvider.check', { providerId: id }));
  return rows.length;
}

/** The result of a check of an identity provider and its domains. */
export interface ProviderCheckResult {
  readonly problem: string | null;
  /**
   * The domains whose DNS record was found. A domain that is in neither `proven` nor `unproven` could not be
   * checked.
   */
  readonly provenDomains: readonly string[];
  /** The domains whose record is missing. */
  readonly unprovenDomains: readonly string[];
}

export const deleteProvider = (id: string): Query<unknown> =>
  sql`delete from identity_providers where ${orgFilter()} and id = ${id}`;

/** Returns the indexes of those providers in the list that have no proven domain or do not exist. */
export async function findUnprovenProviderIndexes(db: Db, providerIds: readonly string[]): Promise<number[]> {
  const rows = await db.all(
    sql<{ id: string }>`select distinct d.provider_id as id from identity_provider_domains d
       where ${orgFilter('d')} and d.provider_id = any (${providerIds}::uuid[]) and d.proven_at is not null`,
  );
  const proven = new Set(rows.map(({ id }) => id));
  return providerIds.flatMap((id, place) => (proven.has(id) ? [] : [place]));
}

/** Ends the sessions that no longer satisfy the policy. They are refused after COMMIT. */
export const endSessionsViolatingPolicy = (): Query<unknown> => sql`select app.end_unproven_sessions()`;

/** Reads a provider with its domains and the key that decrypts its secret; undefined if it was deleted. */
export async function readProvider(
  db: Db,
  id: string,
): Promise<
  { readonly row: ProviderRow; readonly domains: DomainRow[]; readonly organizationKey: Buffer } | undefined
> {
  const [row, domains, organizationKey] = await Promise.all([
    db.find(
      sql<ProviderRow>`select ${providers.list} from identity_providers p where ${orgFilter('p')} and p.id = ${id}`,
    ),
    listDomains(db),
    getOrganizationKey(db),
  ]);
  const own = domains.filter(({ provider_id: provider }) => provider === id);
  return row && { row, domains: own, organizationKey };
}
