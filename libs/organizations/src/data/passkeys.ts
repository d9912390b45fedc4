/**
 * The passkeys of a member's person. They belong to no organization, so database functions control what a
 * call may read of them.
 */
import { CursorId, type Db, decodeCursor, pageOfRows, sql } from '@muster/driver';
import { type ParamsOf, type Passkey } from '@muster/contract';
import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type Caller } from '@muster/runtime';
import { outboxRow } from '@muster/tenancy';
import { z } from 'zod';

interface PersonPasskeyRow {
  readonly id: string;
  readonly name: string;
  readonly is_synced: boolean;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

const toPasskey = (row: PersonPasskeyRow): Passkey => ({
  id: row.id,
  name: row.name,
  synced: row.is_synced,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
});

const Cursor = z.tuple([CursorId]);

/** Lists the passkeys of the caller's person in pages, oldest first. */
export async function listPasskeys(
  db: Db,
  { memberId }: Caller,
  { limit, cursor }: ParamsOf<OrganizationsRegistry['passkeys']['list']>,
): Promise<{ items: Passkey[]; nextCursor: string | null }> {
  const [after = null] = decodeCursor(cursor, Cursor) ?? [];
  const rows = await db.all(
    sql<PersonPasskeyRow>`select k.id, k.name, k.is_synced, k.created_at, k.last_used_at
       from app.passkeys_of(${memberId}::uuid, ${after}::uuid, ${limit + 1}) k`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toPasskey);
}

/** Renames a passkey. Throws 404 if it belongs to another person. */
export async function renamePasskey(
  db: Db,
  { memberId }: Caller,
  { passkeyId, name }: ParamsOf<OrganizationsRegistry['passkeys']['rename']>,
): Promise<Passkey> {
  const row = await db.get(
    sql<PersonPasskeyRow>`select k.id, k.name, k.is_synced, k.created_at, k.last_used_at
       from app.rename_passkey(${memberId}::uuid, ${passkeyId}::uuid, ${name}) k`,
  );
  return toPasskey(row);
}

/** Deletes a passkey and notifies its person by e-mail. Throws 404 if it belongs to another person. */
export async function deletePasskey(db: Db, { memberId }: Caller, passkeyId: string): Promise<void> {
  const row = await db.get(
    sql<{ name: string }>`select k.name from app.delete_passkey(${memberId}::uuid, ${passkeyId}::uuid) k`,
  );
  db.deferToCommit(outboxRow('passkey.mail', { memberId, name: row.name }));
}
