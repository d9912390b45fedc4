/**
 * OpenID Connect issuers of organizations, read through SQL functions, and the identities of people at them.
 */
import { type Db, sql } from '@muster/driver';
import { type SignInDb } from '@muster/placement';
import { type Account, accountColumns } from './accounts.ts';

/** An issuer that is responsible for an address, as shown to the person who signs in. */
export interface ResponsibleProvider {
  readonly id: string;
  readonly name: string;
  readonly orgId: string;
  readonly orgName: string;
}

/** Lists the issuers that are responsible for a domain. */
export const findProvidersOfDomain = (db: SignInDb, domain: string): Promise<ResponsibleProvider[]> =>
  db.everywhere(
    sql<ResponsibleProvider>`select p.id, p.name, p.org_id as "orgId", p.org_name as "orgName" from app.identity_providers_of(${domain}) p`,
    ({ orgId }) => orgId,
  );

export interface SignInProvider {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Encrypted client secret; null for a public client. */
  readonly secret: Buffer | null;
  readonly organizationKey: Buffer;
  readonly trustsAddresses: boolean;
  /** The issuer's e-mail domains, in lower case. */
  readonly domains: readonly string[];
}

/** Finds an issuer; undefined if it does not exist or has no domain. */
export async function findProvider(db: SignInDb, id: string): Promise<SignInProvider | undefined> {
  const [found] = await db.everywhere(
    sql<SignInProvider>`select p.id, p.org_id as "orgId", p.name, p.issuer, p.client_id as "clientId", p.secret,
         p.organization_key as "organizationKey", p.trusts_addresses as "trustsAddresses", p.domains
       from app.find_identity_provider(${id}::uuid) p`,
    ({ orgId }) => orgId,
  );
  return found;
}

/**
 * The proof that an organization requires of an account's sessions: one row per accepted issuer, or one row
 * without an issuer.
 */
export interface RequiredProof {
  readonly orgName: string;
  readonly requiresPasskey: boolean;
  readonly providerId: string | null;
  readonly providerName: string | null;
}

export const listRequiredProofs = (
  db: SignInDb,
  accountId: string,
  orgId: string,
): Promise<RequiredProof[]> =>
  db.at(orgId, (there) =>
    there.all(
      sql<RequiredProof>`select a.org_name as "orgName", a.requires_passkey as "requiresPasskey", a.provider_id as "providerId",
         a.provider_name as "providerName"
       from app.asked_proofs(${accountId}::uuid, ${orgId}::uuid) a`,
    ),
  );

/** A person at an issuer. Only issuer and subject together identify an account. */
export interface ExternalIdentity {
  readonly issuer: string;
  readonly subject: string;
}

/** Finds the account that is linked to an identity; undefined for a new identity. */
export const findAccountByIdentity = (
  db: Db,
  { issuer, subject }: ExternalIdentity,
): Promise<Account | undefined> =>
  db.find(
    sql<Account>`select ${accountColumns} from sign_in.identities i join sign_in.accounts a on a.id = i.account_id
       where i.issuer = ${issuer} and i.subject = ${subject}`,
  );

/**
 * Links an identity to an account, or records its use. `email` is the address that the issuer reports now.
 */
export async function recordIdentity(
  db: Db,
  accountId: string,
  { issuer, subject }: ExternalIdentity,
  email: string | null,
): Promise<void> {
  await db.all(
    sql`insert into sign_in.identities (issuer, subject, account_id, email) values (${issuer}, ${subject}, ${accountId}, ${email})
        on conflict (issuer, subject) do update set email = excluded.email, last_used_at = now()`,
  );
}
