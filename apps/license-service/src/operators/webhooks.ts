/** Who hears of what happens to licenses, and what became of each message. */
import { newId } from '@muster/driver';
import { newWebhookSecret } from '@muster/outbound';
import { seal, unseal } from '../signing/seal.ts';
import { locks } from './locks.ts';
import { type Ask, Refused } from './transaction.ts';

export interface Endpoint {
  readonly id: string;
  readonly url: string;
  /** Null: of whatever happens. */
  readonly kinds: string[] | null;
  readonly isActive: boolean;
  /** What is still to be delivered. */
  readonly waiting: number;
  readonly createdAt: string;
}

/** Seals and opens the secrets that sign. */
export interface Sealing {
  readonly seal: (endpointId: string, secret: string) => Buffer;
  /** Undefined where it was sealed with a secret that is not there any more. */
  readonly open: (endpointId: string, sealed: Buffer) => string | undefined;
}

/** What the secret of an endpoint is sealed under. */
export const nameOfEndpoint = (endpointId: string): string => `webhook ${endpointId}`;

/** The first secret seals, all open. */
export const sealingBy = (seals: readonly (string | Buffer)[]): Sealing => ({
  seal: (endpointId, secret) => {
    const [first] = seals;
    if (first === undefined) throw new Refused('no_seal', 'set LICENSE_SEAL: secrets are sealed with it');
    return seal(first, nameOfEndpoint(endpointId), Buffer.from(secret));
  },
  open: (endpointId, sealed) =>
    seals
      .map((one) => unseal(one, nameOfEndpoint(endpointId), sealed))
      .find((plain) => plain !== undefined)
      ?.toString(),
});

const columns = `e.id, e.url, e.kinds, e.is_active as "isActive", e.created_at as "createdAt",
  (select count(*)::int from licenses.webhook_deliveries d where d.endpoint_id = e.id and d.state = 'waiting') as waiting`;

export const listEndpoints = (ask: Ask, product: string): Promise<Endpoint[]> =>
  ask(`select ${columns} from licenses.webhook_endpoints e where e.product = $1 order by e.id`, [product]);

async function getEndpoint(ask: Ask, product: string, id: string): Promise<Endpoint> {
  const [endpoint] = await ask<Endpoint>(
    `select ${columns} from licenses.webhook_endpoints e where e.product = $1 and e.id = $2`,
    [product, id],
  );
  if (endpoint === undefined) throw new Refused('not_found', 'no endpoint has this id');
  return endpoint;
}

const mostEndpoints = 20;

/** The secret is shown once. */
export async function makeEndpoint(
  ask: Ask,
  sealing: Sealing,
  { product, url, kinds }: { product: string; url: string; kinds: readonly string[] | null },
): Promise<{ endpoint: Endpoint; secret: string }> {
  // One change of the endpoints at a time.
  await ask(`select pg_advisory_xact_lock(${locks.webhooks})`);
  if ((await listEndpoints(ask, product)).length >= mostEndpoints)
    throw new Refused('endpoints', `a product has at most ${mostEndpoints} endpoints`);
  const [id, secret] = [newId(), newWebhookSecret()];
  await ask(
    `insert into licenses.webhook_endpoints (id, product, url, kinds, sealed_secret) values ($1, $2, $3, $4, $5)`,
    [id, product, url, kinds, sealing.seal(id, secret)],
  );
  return { endpoint: await getEndpoint(ask, product, id), secret };
}

export interface EndpointChange {
  readonly url?: string | undefined;
  readonly kinds?: readonly string[] | null | undefined;
  readonly isActive?: boolean | undefined;
}

/** What waits is delivered when it is active again. */
export async function changeEndpoint(
  ask: Ask,
  { product, id, url, kinds, isActive }: EndpointChange & { product: string; id: string },
): Promise<Endpoint> {
  await getEndpoint(ask, product, id);
  await ask(
    `update licenses.webhook_endpoints set url = coalesce($2, url), is_active = coalesce($3, is_active),
       kinds = case when $4 then $5::text[] else kinds end where id = $1`,
    [id, url ?? null, isActive ?? null, kinds !== undefined, kinds ?? null],
  );
  return getEndpoint(ask, product, id);
}

/** Another secret; both sign from now on, until the one before is dropped. */
export async function rotateSecret(
  ask: Ask,
  sealing: Sealing,
  { product, id }: { product: string; id: string },
): Promise<{ endpoint: Endpoint; secret: string }> {
  await getEndpoint(ask, product, id);
  const secret = newWebhookSecret();
  await ask(
    `update licenses.webhook_endpoints set sealed_secret_before = sealed_secret, sealed_secret = $2 where id = $1`,
    [id, sealing.seal(id, secret)],
  );
  return { endpoint: await getEndpoint(ask, product, id), secret };
}

export async function dropOldSecret(
  ask: Ask,
  { product, id }: { product: string; id: string },
): Promise<Endpoint> {
  await ask(
    'update licenses.webhook_endpoints set sealed_secret_before = null where product = $1 and id = $2',
    [product, id],
  );
  return getEndpoint(ask, product, id);
}

export async function deleteEndpoint(
  ask: Ask,
  { product, id }: { product: string; id: string },
): Promise<void> {
  await getEndpoint(ask, product, id);
  await ask('delete from licenses.webhook_endpoints where id = $1', [id]);
}

/** Where its messages go, and what signs them. */
export async function addressOf(
  ask: Ask,
  sealing: Sealing,
  { product, id }: { product: string; id: string },
): Promise<{ url: string; secrets: readonly string[] }> {
  const { url } = await getEndpoint(ask, product, id);
  const [row] = await ask<{ sealed: Buffer; before: Buffer | null }>(
    `select sealed_secret as sealed, sealed_secret_before as before from licenses.webhook_endpoints where id = $1`,
    [id],
  );
  const secrets = [row?.sealed, row?.before]
    .filter((one) => one != null)
    .map((one) => sealing.open(id, one))
    .filter((one) => one !== undefined);
  return { url, secrets };
}

export interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly kind: string;
  readonly state: 'waiting' | 'delivered' | 'given_up';
  readonly tries: number;
  /** Of what waits: when it is tried. */
  readonly nextAt: string | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly createdAt: string;
}

/** The newest first. */
export async function listDeliveries(
  ask: Ask,
  { product, id, state, limit }: { product: string; id: string; state?: string | undefined; limit: number },
): Promise<Delivery[]> {
  await getEndpoint(ask, product, id);
  return ask(
    `select d.id, d.event_id as "eventId", e.kind, d.state, d.tries,
       case when d.state = 'waiting' then d.next_at end as "nextAt", d.last_status as "lastStatus",
       d.last_error as "lastError", d.created_at as "createdAt"
     from licenses.webhook_deliveries d join licenses.license_events e on e.id = d.event_id
     where d.endpoint_id = $1 and ($2::text is null or d.state = $2) order by d.created_at desc, d.id limit $3`,
    [id, state ?? null, limit],
  );
}

/** Tries it anew, at once, as if it had never been tried. */
export async function redeliver(ask: Ask, { product, id }: { product: string; id: string }): Promise<void> {
  const rows = await ask(
    `update licenses.webhook_deliveries d set state = 'waiting', tries = 0, next_at = clock_timestamp(), settled_at = null
     from licenses.webhook_endpoints e where e.id = d.endpoint_id and e.product = $1 and d.id = $2 returning 1`,
    [product, id],
  );
  if (rows.length === 0) throw new Refused('not_found', 'no delivery has this id');
}
