/** Passkeys of accounts, and the ceremonies that browsers are in the middle of. */
import { type Db, newId, sql } from '@muster/driver';
import { type Account } from './accounts.ts';
import { beginFlow, endFlow } from './flows.ts';

/** Of one account: more than a person has devices. */
export const mostPasskeys = 20;
export const ceremonyMinutes = 5;

export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly isSynced: boolean;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

/** What a proof is verified by. */
export interface StoredPasskey {
  readonly id: string;
  readonly account: Account;
  /** As browsers name it: base64url. */
  readonly credentialId: string;
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly counter: number;
}

/** The passkeys of an account, the oldest first. */
export const listPasskeys = (db: Db, accountId: string): Promise<Passkey[]> =>
  db.all(
    sql<Passkey>`select k.id, k.name, k.is_synced as "isSynced", k.created_at as "createdAt", k.last_used_at as "lastUsedAt"
       from app.passkeys_of_account(${accountId}::uuid, null, ${mostPasskeys}) k`,
  );

/** The ids of an account's credentials, as browsers name them, with how each is reached. */
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

/** Keeps a passkey; false where it is kept already, or the account has as many as it may. Calls of one account take turns. */
export async function keepPasskey(db: Db, accountId: string, passkey: NewPasskey): Promise<boolean> {
  await db.all(sql`select a.id from sign_in.accounts a where a.id = ${accountId} for no key update`);
  const { credentialId, publicKey, counter, transports, name, isSynced } = passkey;
  const kept = await db.find(
    sql<{
      id: string;
    }>`insert into sign_in.passkeys (id, account_id, credential_id, public_key, counter, transports, name, is_synced)
       select ${newId()}, ${accountId}, ${Buffer.from(credentialId, 'base64url')}, ${Buffer.from(publicKey)}, ${counter},
         ${transports}::text[], ${name}, ${isSynced}
       where (select count(*) from sign_in.passkeys where account_id = ${accountId}) < ${mostPasskeys}
       on conflict (credential_id) do nothing returning id`,
  );
  return kept !== undefined;
}

interface StoredRow {
  id: string;
  account_id: string;
  email: string;
  account_name: string;
  credential_id: Buffer;
  public_key: Buffer;
  counter: number;
}

/** The passkey by the id of its credential, locked until this transaction ends: its counter only grows. */
export async function lockPasskey(db: Db, credentialId: string): Promise<StoredPasskey | undefined> {
  const row = await db.find(
    sql<StoredRow>`select p.id, p.account_id, a.email, a.name as account_name, p.credential_id, p.public_key, p.counter
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

export const noteUse = async (db: Db, id: string, counter: number, isSynced: boolean): Promise<void> => {
  await db.all(
    sql`update sign_in.passkeys set counter = ${counter}, is_synced = ${isSynced}, last_used_at = now() where id = ${id}`,
  );
};

/** Gives a passkey of the account another name; another account's stays as it is. */
export const renamePasskey = async (db: Db, accountId: string, id: string, name: string): Promise<void> => {
  await db.all(sql`select app.rename_passkey_of_account(${accountId}::uuid, ${id}::uuid, ${name})`);
};

/** Removes a passkey of the account, and answers what it was called; undefined where it is another's. */
export const deletePasskey = async (db: Db, accountId: string, id: string): Promise<string | undefined> => {
  const row = await db.find(
    sql<{
      name: string;
    }>`select k.name from app.delete_passkey_of_account(${accountId}::uuid, ${id}::uuid) k`,
  );
  return row?.name;
};

/** What a browser was asked to sign, and for whom: null for signing in. */
export interface Ceremony {
  readonly challenge: string;
  readonly accountId: string | null;
}

/** Begins a ceremony; answers what the browser keeps in a cookie. */
export const beginCeremony = (db: Db, ceremony: Ceremony): Promise<string> =>
  beginFlow(db, { kind: 'passkey', payload: ceremony, minutes: ceremonyMinutes });

/** Ends a ceremony, which is good once; undefined where there is none, or it is over. */
export const endCeremony = (db: Db, nonce: string | undefined): Promise<Ceremony | undefined> =>
  endFlow(db, 'passkey', nonce);
