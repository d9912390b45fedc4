/** The deliveries of forges, and the results of processing them. */
import {
  CursorId,
  type Db,
  decodeCursor,
  newId,
  orgFilter,
  currentOrgId,
  pageOfRows,
  type Query,
  type RowOf,
  sql,
  defineView,
  limitToPageBytes,
} from '@muster/driver';
import {
  type ForgeDelivery,
  type ForgeDeliveryState,
  type ForgeKind,
  type ForgeOutcome,
  type ParamsOf,
  type Trust,
} from '@muster/contract';
import { type ForgesRegistry } from '@muster/forges-registry';
import { z } from 'zod';

const deliveries = defineView('forge_deliveries', 'd', [
  ...(['id', 'connection_id', 'delivery_id', 'event', 'trust', 'state', 'outcome'] as const),
  ...(['received_at', 'done_at'] as const),
]);
type DeliveryRow = RowOf<typeof deliveries>;

export const toDelivery = (row: DeliveryRow): ForgeDelivery => deliveries.shown(row);

export interface ReceivedDelivery {
  readonly connectionId: string;
  readonly deliveryId: string;
  readonly event: string;
  readonly trust: Trust;
  /** The JSON body as received. */
  readonly payload: string;
}

/**
 * Stores a delivery and returns its id; undefined if it was received before. A repeated delivery that was
 * ignored or failed is processed again.
 */
export const insertDelivery = async (
  db: Db,
  { connectionId, deliveryId, event, trust, payload }: ReceivedDelivery,
): Promise<string | undefined> =>
  (
    await db.find(
      sql<{
        id: string;
      }>`insert into forge_deliveries (org_id, id, connection_id, delivery_id, event, trust, payload)
         values (${currentOrgId}, ${newId()}, ${connectionId}, ${deliveryId}, ${event}, ${trust}, ${payload})
         on conflict (org_id, connection_id, delivery_id) do update
           set event = excluded.event, trust = excluded.trust, payload = excluded.payload, state = 'received', outcome = '[]', done_at = null
           where forge_deliveries.state in ('ignored', 'failed') returning id`,
    )
  )?.id;

/**
 * The prefix of the ids of stored answers. Muster stores the forge's answers to its own requests among the
 * deliveries.
 */
export const pollAnswerIdPrefix = 'asked ';

/** A delivery with the data needed to process it. */
export interface UnprocessedDelivery {
  readonly connectionId: string;
  readonly deliveryId: string;
  readonly kind: ForgeKind;
  /** The id of the GitHub App that the connection uses. */
  readonly appId: string | null;
  readonly event: string;
  readonly trust: Trust;
  readonly payload: string;
  readonly receivedAt: string;
}

/** Locks a delivery. Returns undefined if it or its connection was deleted. */
export const lockDelivery = (db: Db, id: string): Promise<UnprocessedDelivery | undefined> =>
  db.find(
    sql<UnprocessedDelivery>`select d.connection_id as "connectionId", d.delivery_id as "deliveryId", c.kind, c.app_id as "appId", d.event, d.trust, d.payload, d.received_at as "receivedAt"
       from forge_deliveries d
       join forge_connections c on ${orgFilter('c')} and c.id = d.connection_id and c.deleted_at is null
       where ${orgFilter('d')} and d.id = ${id} for no key update of d`,
  );

export const storeOutcome = (
  id: string,
  state: ForgeDeliveryState,
  outcome: readonly ForgeOutcome[],
): Query<unknown> =>
  sql`update forge_deliveries set state = ${state}, outcome = ${JSON.stringify(outcome)}::jsonb, done_at = clock_timestamp()
     where ${orgFilter()} and id = ${id}`;

/** Locks a delivery of an existing connection for processing it again. */
export const resetDelivery = (db: Db, id: string): Promise<DeliveryRow> =>
  db.get(
    sql<DeliveryRow>`update forge_deliveries d set state = 'received', outcome = '[]', done_at = null
       where ${orgFilter('d')} and d.id = ${id} and exists (select from forge_connections c
         where ${orgFilter('c')} and c.id = d.connection_id and c.deleted_at is null)
       returning ${deliveries.list}`,
  );

const Cursor = z.tuple([CursorId]);

export async function listDeliveries(
  db: Db,
  { connectionId, state, limit, cursor }: ParamsOf<ForgesRegistry['forges']['deliveries']['list']>,
): Promise<{ items: ForgeDelivery[]; nextCursor: string | null }> {
  const where = [orgFilter('d'), sql.part`d.connection_id = ${connectionId}::uuid`];
  if (state !== undefined) where.push(sql.part`d.state = ${state}`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`d.id < ${after[0]}::uuid`);
  const rows = await db.all(
    sql<DeliveryRow>`${limitToPageBytes(
      sql.part`select ${deliveries.list} from forge_deliveries d where ${sql.join(where, ' and ')}
         order by d.id desc limit ${limit + 1}`,
      sql.part`octet_length(q.outcome::text)`,
      sql.part`q.id desc`,
    )}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toDelivery);
}
