/** Connections to forges, and the way in of what they deliver. */
import {
  CursorId,
  type Db,
  decodeCursor,
  of,
  pageOfRows,
  type Query,
  record,
  type RowOf,
  sql,
} from '@muster/driver';
import {
  type ForgeConnection,
  type ForgeFailure,
  type ParamsOf,
  type Registry,
  type Subject,
  subjectOf,
} from '@muster/registry';
import { notFound } from '@muster/runtime';
import { type SecretOwner } from '@muster/outbound';
import { z } from 'zod';

export const connections = record('forge_connections', 'c', {
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

/** The newer failure counts: that of calls to the forge, or that of its deliveries. Either ends when the same works again. */
export function toConnection(row: ConnectionRow): ForgeConnection {
  const { last_error: calling, delivery_error: receiving } = row;
  const isReceiving = receiving !== null && (calling === null || receiving.at >= calling.at);
  const lastError = isReceiving ? receiving : calling;
  return { ...connections.shown(row), state: lastError === null ? 'active' : 'failing', lastError };
}

export const aboutConnection = (row: ConnectionRow): Subject => subjectOf('forge', { id: row.id }, row.name);

/** 404 for one that was disconnected. */
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

export const secretOwner = (organizationKey: Buffer, connectionId: string): SecretOwner => ({
  organizationKey,
  name: `forge ${connectionId} secret`,
});
export const credentialsOwner = (organizationKey: Buffer, connectionId: string): SecretOwner => ({
  organizationKey,
  name: `forge ${connectionId} credentials`,
});
/** Of what stands in the address of the page that makes a GitHub App. */
export const ticketOwner = (organizationKey: Buffer, connectionId: string): SecretOwner => ({
  organizationKey,
  name: `forge ${connectionId} ticket`,
});
/** Of what GitHub gives for an app that was made, until its keys are fetched. */
export const codeOwner = (organizationKey: Buffer, connectionId: string): SecretOwner => ({
  organizationKey,
  name: `forge ${connectionId} code`,
});

/** When the transaction began. */
export const transactionTime = async (db: Db): Promise<string> =>
  (await db.one(sql<{ at: string }>`select now() as at`)).at;

export const countConnections = async (db: Db): Promise<number> =>
  (
    await db.one(
      sql<{
        count: number;
      }>`select count(*)::int as count from forge_connections c where ${of('c')} and c.deleted_at is null`,
    )
  ).count;

const Cursor = z.tuple([CursorId]);

export async function listConnections(
  db: Db,
  { limit, cursor }: ParamsOf<Registry['forges']['list']>,
): Promise<{ items: ForgeConnection[]; nextCursor: string | null }> {
  const after = decodeCursor(cursor, Cursor);
  const beyond = after === undefined ? sql.empty : sql.part`and c.id > ${after[0]}::uuid`;
  const rows = await db.all(
    sql<ConnectionRow>`select ${connections.list} from forge_connections c
       where ${of('c')} and c.deleted_at is null ${beyond} order by c.id limit ${limit + 1}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toConnection);
}

/** What went wrong, or null where it works again; it is no edit of the connection, so its version stays. */
export const noteFailure = (connectionId: string, failure: ForgeFailure | null): Query<unknown> =>
  sql`update forge_connections set last_error = ${failure}
     where ${of()} and id = ${connectionId} and last_error is distinct from ${failure}::jsonb`;

/** Noted every few seconds at most: all deliveries would wait for one row. */
export const noteDelivery = (connectionId: string): Query<unknown> =>
  sql`update forge_connections set last_delivery_at = now()
     where ${of()} and id = ${connectionId} and (last_delivery_at is null or last_delivery_at < now() - interval '5 seconds')`;

/** Notes that a delivery cannot be read. Answers true for the first one since the last that could be read. */
export async function noteUnreadable(db: Db, connectionId: string, failure: ForgeFailure): Promise<boolean> {
  const isThis = sql.part`${of()} and id = ${connectionId}`;
  const first = await db.find(
    sql`update forge_connections set delivery_error = ${failure} where ${isThis} and delivery_error is null returning id`,
  );
  if (first === undefined)
    db.later(sql`update forge_connections set delivery_error = ${failure} where ${isThis}`);
  return first !== undefined;
}

export const noteReadable = (connectionId: string): Query<unknown> =>
  sql`update forge_connections set delivery_error = null
     where ${of()} and id = ${connectionId} and delivery_error is not null`;
