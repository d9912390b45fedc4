/**
 * The e-mails about a domain whose DNS record is missing. They go to the owner and the admins of its
 * organization.
 */
import { type Db, orgFilter, sql } from '@muster/driver';
import { outboxRow } from '@muster/tenancy';
import { domainGraceDays, renderDomainMail, type DomainMail } from '../rules/domain-mail.ts';
import { toDomainTxtRecord } from '../rules/domain-proofs.ts';

/** Requests a mail to the owner and each admin. */
export async function requestDomainMails(
  db: Db,
  unprovenDomain: { readonly providerId: string; readonly domain: string },
): Promise<void> {
  const members = await db.all(
    sql<{
      id: string;
    }>`select m.id from members m where ${orgFilter('m')} and m.status = 'active' and m.role in ('owner', 'admin')`,
  );
  for (const { id } of members)
    db.deferToCommit(outboxRow('domain.mail', { ...unprovenDomain, memberId: id }));
}

/**
 * Prepares the e-mail about a missing DNS record. Returns null if the record is back, the domain was removed
 * from the provider, or the member is no longer an owner or admin.
 */
export async function prepareDomainMail(
  db: Db,
  {
    memberId,
    providerId,
    domain,
  }: { readonly memberId: string; readonly providerId: string; readonly domain: string },
): Promise<DomainMail | null> {
  const row = await db.find(
    sql<{ to: string; organization: string; provider: string; proof: string; until: string | null }>`
      select m.email as to, o.name as organization, p.name as provider, d.proof,
        case when d.proven_at is not null then d.missing_since + make_interval(days => ${sql.literal(domainGraceDays)}) end as until
      from identity_provider_domains d
      join identity_providers p on p.org_id = d.org_id and p.id = d.provider_id
      join orgs o on o.id = d.org_id and o.deleted_at is null
      join members m on m.org_id = d.org_id and m.id = ${memberId} and m.status = 'active' and m.role in ('owner', 'admin')
      where ${orgFilter('d')} and d.provider_id = ${providerId} and d.domain = ${domain} and d.missing_since is not null`,
  );
  if (row === undefined) return null;
  const { proof, ...about } = row;
  return renderDomainMail({ ...about, domain, record: toDomainTxtRecord(domain, proof) });
}
