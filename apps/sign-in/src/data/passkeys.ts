/** Passkeys of accounts, and pending WebAuthn ceremonies. */
import { type Db, newId, sql } from '@muster/driver';
import { type Account } from './accounts.ts';
import { beginFlow, consumeFlow } from './flows.ts';

/** Limit per account; more than a person has devices. */
export const maxPasskeys = 20;
export const ceremonyLifetimeMinutes = 5;

export interface AccountPasskey {
  readonly id: string;
  readonly name: string;
  readonly isSynced: boolean;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

/** The stored data that verifies a passkey's signature. */
export interface StoredPasskey {
  readonly id: string;
  readonly account: Account;
  /** The id in base64url, as browsers write it. */
  readonly credentialId: string;
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly counter: number;
}

/** Lists the passkeys of an account, oldest first. */
export const listPasskeys = (db: Db, accountId: string): Promise<AccountPasskey[]> =>
  db.all(
    sql<AccountPasskey>`select k.id, k.name, k.is_synced as "isSynced", k.created_at as "createdAt", k.last_used_at as "lastUsedAt"
       from app.passkeys_of_account(${accountId}::uuid, null, ${maxPasskeys}) k`,
  );

/** Lists the ids of an account's credentials in base64url, with their transports. */
export async function listCredentials(
  db: Db,
  accountId: string,
): Promise<{ id: string; transports: string[] }[]> {
  const rows = await db.all(
    sql<{ credential_id: Buffer; transports: string[] }>`select p.credential_id, p.transports
       from sign_in.passkeys p where p.account_id = ${accountId}`,
  );
  return rows.map(({ credential_id: id, transports }) => ({ id: id.toString('base64url'), transports }));
}

export interface NewPasskey {
  readonly credentialId: string;
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly name: string;
  readonly isSynced: boolean;
}

/**
 * Stores a passkey. Returns false if it is already stored or the account has reached its limit. A row lock on
 * the account serializes calls.
 */
export async function storePasskey(db: Db, accountId: string, passkey: NewPasskey): Promise<boolean> {
  await db.all(sql`select a.id from sign_in.accounts a where a.id = ${accountId} for no key update`);
  const { credentialId, publicKey, counter, transports, name, isSynced } = passkey;
  const storedRow = await db.find(
    sql<{
      id: string;
    }>`insert into sign_in.passkeys (id, account_id, credential_id, public_key, counter, transports, name, is_synced)
       select ${newId()}, ${accountId}, ${Buffer.from(credentialId, 'base64url')}, ${Buffer.from(publicKey)}, ${counter},
         ${transports}::text[], ${name}, ${isSynced}
       where (select count(*) from sign_in.passkeys where account_id = ${accountId}) < ${maxPasskeys}
       on conflict (credential_id) do nothing returning id`,
  );
  return storedRow !== undefined;
}

interface PasskeyRow {
  id: string;
  account_id: string;
  email: string;
  account_name: string;
  credential_id: Buffer;
  public_key: Buffer;
  counter: number;
}

/** Finds a passkey by its credential id and locks its row, because its counter must only increase. */
export async function findAndLockPasskey(db: Db, credentialId: string): Promise<StoredPasskey | undefined> {
  const row = await db.find(
    sql<PasskeyRow>`select p.id, p.account_id, a.email, a.name as account_name, p.credential_id, p.public_key, p.counter
       from sign_in.passkeys p join sign_in.accounts a on a.id = p.account_id
       where p.credential_id = ${Buffer.from(credentialId, 'base64url')} for no key update of p`,
  );
  return (
    row && {
      id: row.id,
      account: { id: row.account_id, email: row.email, name: row.account_name },
      credentialId: row.credential_id.toString('base64url'),
      publicKey: new Uint8Array(row.public_key),
      counter: row.counter,
    }
  );
}

export const recordPasskeyUse = async (
  db: Db,
  id: string,
  counter: number,
  isSynced: boolean,
): Promise<void> => {
  await db.all(
    sql`update sign_in.passkeys set counter = ${counter}, is_synced = ${isSynced}, last_used_at = now() where id = ${id}`,
  );
};

/** Renames a passkey of the account. Passkeys of other accounts are not changed. */
export const renamePasskey = async (db: Db, accountId: string, id: string, name: string): Promise<void> => {
  await db.all(sql`select app.rename_passkey_of_account(${accountId}::uuid, ${id}::uuid, ${name})`);
};

/** Deletes a passkey of the account and returns its name; undefined if it belongs to another account. */
export const deletePasskey = async (db: Db, accountId: string, id: string): Promise<string | undefined> => {
  const row = await db.find(
    sql<{
      name: string;
    }>`select k.name from app.delete_passkey_of_account(${accountId}::uuid, ${id}::uuid) k`,
  );
  return row?.name;
};

/** A challenge that a browser must sign. The account is null when signing in. */
export interface Ceremony {
  readonly challenge: string;
  readonly accountId: string | null;
}

/** Starts a ceremony and returns the secret for the browser's cookie. */
export const beginCeremony = (db: Db, ceremony: Ceremony): Promise<string> =>
  beginFlow(db, { kind: 'passkey', payload: ceremony, minutes: ceremonyLifetimeMinutes });

/** Ends a ceremony, which can be used once; undefined if it does not exist or has expired. */
export const consumeCeremony = (db: Db, nonce: string | undefined): Promise<Ceremony | undefined> =>
  consumeFlow(db, 'passkey', nonce);
