/** Connections to forges, which receive the forges' deliveries. */
import {
  CursorId,
  type Db,
  decodeCursor,
  orgFilter,
  pageOfRows,
  type Query,
  defineRecord,
  type RowOf,
  sql,
} from '@muster/driver';
import {
  type ForgeConnection,
  type ForgeFailure,
  type ParamsOf,
  type Subject,
  subjectOf,
} from '@muster/contract';
import { type ForgesRegistry } from '@muster/forges-registry';
import { notFound } from '@muster/runtime';
import { type SecretOwner } from '@muster/outbound';
import { z } from 'zod';

export const connections = defineRecord('forge_connections', 'c', {
  kind: {},
  name: { set: true },
  base_url: { set: true },
  secret: { hidden: true },
  credentials: { hidden: true, initial: null },
  credentials_kind: { initial: null },
  app_id: { hidden: true, initial: null },
  app_url: { initial: null },
  created_by: { hidden: true },
  last_delivery_at: { initial: null },
  last_status_at: { initial: null },
  last_error: { hidden: true, initial: null },
  delivery_error: { hidden: true, initial: null },
  deleted_at: { hidden: true, initial: null },
});
export type ConnectionRow = RowOf<typeof connections>;

/**
 * Converts a row to the connection that callers see. Of the last failed call to the forge and the last failed
 * delivery, only the newer failure is shown. A success of the same kind clears a failure.
 */
export function toConnection(row: ConnectionRow): ForgeConnection {
  const { last_error: calling, delivery_error: receiving } = row;
  const isReceiving = receiving !== null && (calling === null || receiving.at >= calling.at);
  const lastError = isReceiving ? receiving : calling;
  return { ...connections.shown(row), state: lastError === null ? 'active' : 'failing', lastError };
}

export const connectionSubject = (row: ConnectionRow): Subject =>
  subjectOf('forge', { id: row.id }, row.name);

/** Reads a connection. Throws 404 if it was disconnected. */
export async function getConnection(db: Db, id: string): Promise<ConnectionRow> {
  const row = await connections.get(db, id);
  if (row.deleted_at !== null) throw notFound();
  return row;
}

export async function lockConnection(db: Db, id: string, expectedVersion?: number): Promise<ConnectionRow> {
  const row = await connections.lock(db, id, expectedVersion);
  if (row.deleted_at !== null) throw notFound();
  return row;
}

const secretOwnerOf =
  (secretName: string) =>
  (organizationKey: Buffer, connectionId: string): SecretOwner => ({
    organizationKey,
    name: `forge ${connectionId} ${secretName}`,
  });
export const webhookSecretOwner = secretOwnerOf('secret');
export const credentialsSecretOwner = secretOwnerOf('credentials');
/** Returns the owner for encrypting the ticket in the URL of the page that creates a GitHub App. */
export const ticketSecretOwner = secretOwnerOf('ticket');
/**
 * Returns the owner for encrypting the code of a created GitHub App. The code is stored until the app's keys
 * are fetched.
 */
export const appCodeSecretOwner = secretOwnerOf('code');

/** Returns the start time of the transaction. */
export const getTransactionTime = async (db: Db): Promise<string> =>
  (await db.one(sql<{ at: string }>`select now() as at`)).at;

export const countConnections = async (db: Db): Promise<number> =>
  (
    await db.one(
      sql<{
        count: number;
      }>`select count(*)::int as count from forge_connections c where ${orgFilter('c')} and c.deleted_at is null`,
    )
  ).count;

const Cursor = z.tuple([CursorId]);

export async function listConnections(
  db: Db,
  { limit, cursor }: ParamsOf<ForgesRegistry['forges']['list']>,
): Promise<{ items: ForgeConnection[]; nextCursor: string | null }> {
  const after = decodeCursor(cursor, Cursor);
  const beyond = after === undefined ? sql.empty : sql.part`and c.id > ${after[0]}::uuid`;
  const rows = await db.all(
    sql<ConnectionRow>`select ${connections.list} from forge_connections c
       where ${orgFilter('c')} and c.deleted_at is null ${beyond} order by c.id limit ${limit + 1}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toConnection);
}

/**
 * Stores the last failure, or null after a success. It is not an edit of the connection, so the version
 * stays.
 */
export const storeFailure = (connectionId: string, failure: ForgeFailure | null): Query<unknown> =>
  sql`update forge_connections set last_error = ${failure}
     where ${orgFilter()} and id = ${connectionId} and last_error is distinct from ${failure}::jsonb`;

/**
 * Stores the time of the last delivery at most every five seconds. Otherwise all deliveries would wait for
 * the lock on one row.
 */
export const storeLastDeliveryTime = (connectionId: string): Query<unknown> =>
  sql`update forge_connections set last_delivery_at = now()
     where ${orgFilter()} and id = ${connectionId} and (last_delivery_at is null or last_delivery_at < now() - interval '5 seconds')`;

/**
 * Stores that a delivery cannot be read. Returns true for the first failure since the last readable delivery.
 */
export async function storeUnreadableDelivery(
  db: Db,
  connectionId: string,
  failure: ForgeFailure,
): Promise<boolean> {
  const isThis = sql.part`${orgFilter()} and id = ${connectionId}`;
  const first = await db.find(
    sql`update forge_connections set delivery_error = ${failure} where ${isThis} and delivery_error is null returning id`,
  );
  if (first === undefined)
    db.deferToCommit(sql`update forge_connections set delivery_error = ${failure} where ${isThis}`);
  return first !== undefined;
}

export const clearDeliveryError = (connectionId: string): Query<unknown> =>
  sql`update forge_connections set delivery_error = null
     where ${orgFilter()} and id = ${connectionId} and delivery_error is not null`;
