/** Issuers of OpenID Connect, as functions of the door show them, and who people are there. */
import { type Db, sql } from '@muster/driver';
import { type SignInDb } from '@muster/placement';
import { type Account, columns } from './accounts.ts';

/** An issuer that speaks for an address, as the person sees it who is to sign in there. */
export interface NamedProvider {
  readonly id: string;
  readonly name: string;
  readonly orgId: string;
  readonly orgName: string;
}

/** Those that speak for a domain. */
export const providersOf = (db: SignInDb, domain: string): Promise<NamedProvider[]> =>
  db.everywhere(
    sql<NamedProvider>`select p.id, p.name, p.org_id as "orgId", p.org_name as "orgName" from app.identity_providers_of(${domain}) p`,
    ({ orgId }) => orgId,
  );

export interface Provider {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Sealed; null for a public client. */
  readonly secret: Buffer | null;
  readonly organizationKey: Buffer;
  readonly trustsAddresses: boolean;
  /** Those that it speaks for, in small letters. */
  readonly domains: readonly string[];
}

/** Undefined where it speaks for no domain, or is not there. */
export async function findProvider(db: SignInDb, id: string): Promise<Provider | undefined> {
  const [found] = await db.everywhere(
    sql<Provider>`select p.id, p.org_id as "orgId", p.name, p.issuer, p.client_id as "clientId", p.secret,
         p.organization_key as "organizationKey", p.trusts_addresses as "trustsAddresses", p.domains
       from app.find_identity_provider(${id}::uuid) p`,
    ({ orgId }) => orgId,
  );
  return found;
}

/** What an organization asks of an account's sessions; of each issuer that it names a row, and one where it names none. */
export interface AskedProof {
  readonly orgName: string;
  readonly requiresPasskey: boolean;
  readonly providerId: string | null;
  readonly providerName: string | null;
}

export const listAskedProofs = (db: SignInDb, accountId: string, orgId: string): Promise<AskedProof[]> =>
  db.at(orgId, (there) =>
    there.all(
      sql<AskedProof>`select a.org_name as "orgName", a.requires_passkey as "requiresPasskey", a.provider_id as "providerId",
         a.provider_name as "providerName"
       from app.asked_proofs(${accountId}::uuid, ${orgId}::uuid) a`,
    ),
  );

/** A person at an issuer: the two together are whose account it is, and nothing else. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** The account that an identity was joined to; undefined for one that comes for the first time. */
export const findByIdentity = (db: Db, { issuer, subject }: Identity): Promise<Account | undefined> =>
  db.find(
    sql<Account>`select ${columns} from sign_in.identities i join sign_in.accounts a on a.id = i.account_id
       where i.issuer = ${issuer} and i.subject = ${subject}`,
  );

/** Joins an identity to an account, or notes that it was used; `email` is what the issuer says now. */
export async function noteIdentity(
  db: Db,
  accountId: string,
  { issuer, subject }: Identity,
  email: string | null,
): Promise<void> {
  await db.all(
    sql`insert into sign_in.identities (issuer, subject, account_id, email) values (${issuer}, ${subject}, ${accountId}, ${email})
        on conflict (issuer, subject) do update set email = excluded.email, last_used_at = now()`,
  );
}
