/** Accounts of people with a confirmed e-mail address, independent of organizations. */
import { type Db, newId, sql } from '@muster/driver';
import { type SignInDb } from '@muster/placement';

export interface Account {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

export const accountColumns = sql.part`a.id, a.email, a.name`;

export const findAccount = (db: Db, email: string): Promise<Account | undefined> =>
  db.find(
    sql<Account>`select ${accountColumns} from sign_in.accounts a where lower(a.email) = lower(${email})`,
  );

/** Facts about an address without an account. */
export interface KnownAddress {
  /** Name of the member with this address; null if there is none. */
  readonly memberName: string | null;
  readonly isInvited: boolean;
}

export async function findAddress(db: SignInDb, email: string): Promise<KnownAddress> {
  const known = await db.everywhere(
    sql<KnownAddress>`select k.member_name as "memberName", k.is_invited as "isInvited" from app.known_address(${email}) k`,
    null,
    true,
  );
  return {
    memberName: known.find(({ memberName }) => memberName !== null)?.memberName ?? null,
    isInvited: known.some(({ isInvited }) => isInvited),
  };
}

/**
 * Returns the account of an address that was just confirmed. Creates it if necessary, with the name of the
 * member with this address, or `said`.
 */
export async function findOrCreateAccount(
  db: SignInDb,
  email: string,
  fallbackName: string | null = null,
): Promise<Account> {
  const known = await findAccount(db, email);
  if (known !== undefined) return known;
  const { memberName } = await findAddress(db, email);
  const name = memberName ?? fallbackName ?? email.slice(0, email.lastIndexOf('@')).slice(0, 120);
  // Concurrent confirmations of the same address get the same account.
  return db.one(
    sql<Account>`insert into sign_in.accounts as a (id, email, name) values (${newId()}, ${email}, ${name})
       on conflict (lower(email)) do update set email = a.email returning ${accountColumns}`,
  );
}

/** An organization of an account, as listed for the person to choose from. */
export interface AccountOrganization {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly memberId: string;
  readonly role: 'owner' | 'admin' | 'member' | 'viewer';
}

/** Lists the organizations of an account by name. */
export async function listOrganizations(db: SignInDb, accountId: string): Promise<AccountOrganization[]> {
  const all = await db.everywhere(
    sql<AccountOrganization>`select o.org_id as id, o.slug, o.name, o.member_id as "memberId", o.role from app.organizations_of(${accountId}::uuid) o`,
    ({ id }) => id,
  );
  return all.sort((a, b) => a.name.localeCompare(b.name));
}

/** A pending invitation to an account's address. */
export interface AccountInvitation {
  readonly id: string;
  readonly orgId: string;
  readonly orgName: string;
  readonly role: 'admin' | 'member' | 'viewer';
  readonly invitedBy: string;
}

/** Lists the invitations to an account, newest first, at most fifty. */
export async function listInvitations(db: SignInDb, accountId: string): Promise<AccountInvitation[]> {
  const all = await db.everywhere(
    sql<AccountInvitation>`select i.id, i.org_id as "orgId", i.org_name as "orgName", i.role, i.invited_by as "invitedBy"
       from app.invitations_of(${accountId}::uuid) i`,
    ({ orgId }) => orgId,
  );
  return all.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, 50);
}
