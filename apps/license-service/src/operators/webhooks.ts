/** Webhook endpoints for license events, and the deliveries to them. */
import { newId, sql } from '@muster/driver';
import { newWebhookSecret } from '@muster/outbound';
import { seal, unseal } from '../signing/seal.ts';
import { type DeliveryRecord, type EndpointRecord } from '../api/records.ts';
import { advisoryLockIds } from './locks.ts';
import { type Db, RefusedError } from './transaction.ts';

/** Encrypts and decrypts the signing secrets of endpoints. */
export interface SecretSealer {
  readonly seal: (endpointId: string, secret: string) => Buffer;
  /** Decrypts a secret. Returns undefined if it was sealed with a key that no longer exists. */
  readonly open: (endpointId: string, sealed: Buffer) => string | undefined;
}

/** Returns the name under which the secret of an endpoint is sealed. */
export const sealNameOfEndpoint = (endpointId: string): string => `webhook ${endpointId}`;

/** Creates the sealing of these secrets. The first one seals; all of them open. */
export const createSecretSealer = (seals: readonly (string | Buffer)[]): SecretSealer => ({
  seal: (endpointId, secret) => {
    const [first] = seals;
    if (first === undefined)
      throw new RefusedError('no_seal', 'set LICENSE_SEAL: secrets are sealed with it');
    return seal(first, sealNameOfEndpoint(endpointId), Buffer.from(secret));
  },
  open: (endpointId, sealed) =>
    seals
      .map((one) => unseal(one, sealNameOfEndpoint(endpointId), sealed))
      .find((plain) => plain !== undefined)
      ?.toString(),
});

const endpointColumnsSql = sql`e.id, e.url, e.kinds, e.is_active as "isActive", e.created_at as "createdAt",
  (select count(*)::int from licenses.webhook_deliveries d where d.endpoint_id = e.id and d.state = 'waiting') as waiting`;

export const listEndpoints = (db: Db, product: string): Promise<EndpointRecord[]> =>
  db.all(
    sql<EndpointRecord>`select ${endpointColumnsSql} from licenses.webhook_endpoints e where e.product = ${product} order by e.id`,
  );

async function getEndpoint(db: Db, product: string, id: string): Promise<EndpointRecord> {
  const endpoint = await db.find(
    sql<EndpointRecord>`select ${endpointColumnsSql} from licenses.webhook_endpoints e where e.product = ${product} and e.id = ${id}`,
  );
  if (endpoint === undefined) throw new RefusedError('not_found', 'no webhook has this id');
  return endpoint;
}

const maxEndpointsPerProduct = 20;

/** Creates an endpoint. Its secret is shown only once. */
export async function makeEndpoint(
  db: Db,
  sealing: SecretSealer,
  { product, url, kinds }: { product: string; url: string; kinds: readonly string[] | null },
): Promise<{ endpoint: EndpointRecord; secret: string }> {
  // Locks changes of webhook endpoints until the end of the transaction.
  await db.all(sql`select pg_advisory_xact_lock(${advisoryLockIds.webhooks})`);
  if ((await listEndpoints(db, product)).length >= maxEndpointsPerProduct)
    throw new RefusedError('endpoints', `a product can have at most ${maxEndpointsPerProduct} webhooks`);
  const [id, secret] = [newId(), newWebhookSecret()];
  await db.all(
    sql`insert into licenses.webhook_endpoints (id, product, url, kinds, sealed_secret)
      values (${id}, ${product}, ${url}, ${kinds}, ${sealing.seal(id, secret)})`,
  );
  return { endpoint: await getEndpoint(db, product, id), secret };
}

export interface EndpointChange {
  readonly url?: string | undefined;
  readonly kinds?: readonly string[] | null | undefined;
  readonly isActive?: boolean | undefined;
}

/** Changes an endpoint. Pending deliveries of an inactive endpoint are sent when it is active again. */
export async function changeEndpoint(
  db: Db,
  { product, id, url, kinds, isActive }: EndpointChange & { product: string; id: string },
): Promise<EndpointRecord> {
  await getEndpoint(db, product, id);
  await db.all(
    sql`update licenses.webhook_endpoints set url = coalesce(${url ?? null}, url),
        is_active = coalesce(${isActive ?? null}, is_active),
        kinds = case when ${kinds !== undefined} then ${kinds ?? null}::text[] else kinds end
      where id = ${id}`,
  );
  return getEndpoint(db, product, id);
}

/** Creates a new signing secret. The new and the previous secret both sign until the previous one is dropped. */
export async function rotateSecret(
  db: Db,
  sealing: SecretSealer,
  { product, id }: { product: string; id: string },
): Promise<{ endpoint: EndpointRecord; secret: string }> {
  await getEndpoint(db, product, id);
  const secret = newWebhookSecret();
  await db.all(
    sql`update licenses.webhook_endpoints set sealed_secret_before = sealed_secret,
        sealed_secret = ${sealing.seal(id, secret)}
      where id = ${id}`,
  );
  return { endpoint: await getEndpoint(db, product, id), secret };
}

export async function dropOldSecret(
  db: Db,
  { product, id }: { product: string; id: string },
): Promise<EndpointRecord> {
  await db.all(
    sql`update licenses.webhook_endpoints set sealed_secret_before = null
      where product = ${product} and id = ${id}`,
  );
  return getEndpoint(db, product, id);
}

export async function deleteEndpoint(
  db: Db,
  { product, id }: { product: string; id: string },
): Promise<void> {
  await getEndpoint(db, product, id);
  await db.all(sql`delete from licenses.webhook_endpoints where id = ${id}`);
}

/** Returns the URL and the signing secrets of an endpoint. */
export async function getEndpointTarget(
  db: Db,
  sealing: SecretSealer,
  { product, id }: { product: string; id: string },
): Promise<{ url: string; secrets: readonly string[] }> {
  const { url } = await getEndpoint(db, product, id);
  const row = await db.find(
    sql<{
      sealed: Buffer;
      before: Buffer | null;
    }>`select sealed_secret as sealed, sealed_secret_before as before
      from licenses.webhook_endpoints where id = ${id}`,
  );
  const secrets = [row?.sealed, row?.before]
    .filter((one) => one != null)
    .map((one) => sealing.open(id, one))
    .filter((one) => one !== undefined);
  return { url, secrets };
}

/** Lists the deliveries of an endpoint, the newest first. */
export async function listDeliveries(
  db: Db,
  { product, id, state, limit }: { product: string; id: string; state?: string | undefined; limit: number },
): Promise<DeliveryRecord[]> {
  await getEndpoint(db, product, id);
  return db.all(sql<DeliveryRecord>`select d.id, d.event_id as "eventId", e.kind, d.state, d.tries,
       case when d.state = 'waiting' then d.next_at end as "nextAt", d.last_status as "lastStatus",
       d.last_error as "lastError", d.created_at as "createdAt"
     from licenses.webhook_deliveries d join licenses.license_events e on e.id = d.event_id
     where d.endpoint_id = ${id} and (${state ?? null}::text is null or d.state = ${state ?? null})
     order by d.created_at desc, d.id limit ${limit}`);
}

/** Repeats a delivery immediately and resets its attempts. */
export async function redeliver(db: Db, { product, id }: { product: string; id: string }): Promise<void> {
  const rows = await db.all(
    sql`update licenses.webhook_deliveries d
      set state = 'waiting', tries = 0, next_at = clock_timestamp(), settled_at = null
      from licenses.webhook_endpoints e
      where e.id = d.endpoint_id and e.product = ${product} and d.id = ${id} returning 1`,
  );
  if (rows.length === 0) throw new RefusedError('not_found', 'no delivery has this id');
}
