/**
 * Delivers webhooks. A trigger wrote the delivery rows with the events. An attempt claims its rows for a minute, so that
 * only one process sends them. If that process dies, another one retries after the minute.
 */
import { newId, type Pool, sql } from '@muster/driver';
import { type AllowedNetwork, secondsUntilNextAttempt } from '@muster/outbound';
import { createSender } from '@muster/outbound/sender';
import {
  sendWebhook,
  type WebhookAttempt,
  type WebhookAttemptResult,
  type WebhookEndpoint,
} from '@muster/outbound/webhook';
import { type Logger } from 'pino';
import { getLicense } from '../operators/license.ts';
import { type Db, inTransaction } from '../operators/transaction.ts';
import { type SecretSealer } from '../operators/webhooks.ts';
import { type LicenseMessage, webhookBodyOf, testWebhookBody } from './message.ts';

export interface WebhookDispatcherOptions {
  readonly pool: Pool;
  /** Returns the sealing of secrets; undefined until the service has read them. */
  readonly sealing: () => SecretSealer | undefined;
  readonly networks: readonly AllowedNetwork[];
  readonly logger: Logger;
  /** Additional trusted certificate authorities, for specs. */
  readonly ca?: string;
}

export interface WebhookDispatcher {
  /** Starts to send the due deliveries. Does not wait for the receivers. */
  readonly startDueDeliveries: () => Promise<void>;
  /** Sends due deliveries and waits for their outcomes. Returns the number of attempts. */
  readonly send: () => Promise<number>;
  /** Sends a test message that belongs to no event. */
  readonly test: (endpoint: WebhookEndpoint) => Promise<WebhookAttempt>;
  /** Starts no more attempts and waits for the running ones. */
  readonly close: () => Promise<void>;
}

interface DueWebhookDelivery extends LicenseMessage {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly licenseId: string;
  /** The number of attempts of this delivery, including the running one. */
  readonly tries: number;
  readonly url: string;
  readonly sealed: Buffer;
  readonly sealedBefore: Buffer | null;
}

/** The most concurrent attempts per endpoint, so that a slow receiver cannot occupy more. */
const maxAttemptsPerEndpoint = 8;
/** The time in seconds for which an attempt claims its rows. It is longer than an attempt takes. */
const claimSeconds = 60;

interface DeliverySelection {
  /** The ids of the endpoints to skip. */
  readonly skippedEndpointIds: readonly string[];
  /** The only endpoint whose deliveries are taken; null takes those of all endpoints. */
  readonly onlyEndpointId: string | null;
}

/** The times are rounded to milliseconds like the column, so that a delivery that is due now is found at once. */
const claimDueDeliveries = (
  db: Db,
  { skippedEndpointIds, onlyEndpointId }: DeliverySelection,
): Promise<DueWebhookDelivery[]> =>
  db.all(sql<DueWebhookDelivery>`with due as (
       select d.id from licenses.webhook_endpoints e cross join lateral (
         select d.id from licenses.webhook_deliveries d
         where d.endpoint_id = e.id and d.state = 'waiting' and d.next_at <= clock_timestamp()::timestamptz(3)
         order by d.next_at limit ${maxAttemptsPerEndpoint} for update skip locked) d
       where e.is_active and e.id <> all (${skippedEndpointIds}::uuid[]) and (${onlyEndpointId}::uuid is null or e.id = ${onlyEndpointId})),
     taken as (
       update licenses.webhook_deliveries d
       set tries = d.tries + 1, /*guard: a message waits until its receiver took it*/next_at = clock_timestamp() + make_interval(secs => ${claimSeconds})/*end*/
       from due where d.id = due.id returning d.*)
     select t.id, t.endpoint_id as "endpointId", t.event_id as "eventId", t.tries, e.url, e.sealed_secret as sealed,
       e.sealed_secret_before as "sealedBefore", v.license_id as "licenseId", v.kind, v.actor, v.at, v.data
     from taken t join licenses.webhook_endpoints e on e.id = t.endpoint_id
       join licenses.license_events v on v.id = t.event_id
     order by v.id`);

type AttemptOutcome = Pick<WebhookAttemptResult, 'tried' | 'retryAfterSeconds'>;

const failedAttempt = (error: string): AttemptOutcome => ({
  tried: { at: new Date().toISOString(), status: null, ms: 0, error },
  retryAfterSeconds: null,
});

/** Marks a delivery as delivered, as given up, or for a retry that respects the receiver's Retry-After. */
async function recordOutcome(
  db: Db,
  delivery: DueWebhookDelivery,
  { tried: { status, error }, retryAfterSeconds }: AttemptOutcome,
): Promise<void> {
  const again =
    error === null ? null : secondsUntilNextAttempt(delivery.tries, Math.random(), retryAfterSeconds);
  const state = error === null ? 'delivered' : again === null ? 'given_up' : 'waiting';
  await db.all(sql`update licenses.webhook_deliveries set state = ${state}, last_status = ${status}, last_error = ${error},
       settled_at = case when ${state} = 'waiting' then null else clock_timestamp() end,
       next_at = clock_timestamp() + make_interval(secs => ${again ?? 0}::float8)
     where id = ${delivery.id} and tries = ${delivery.tries}`);
}

export function createWebhookDispatcher({
  pool,
  sealing,
  networks,
  logger,
  ca,
}: WebhookDispatcherOptions): WebhookDispatcher {
  const sender = createSender({ networks, ...(ca !== undefined && { ca }) });
  /** The running attempts of this process by endpoint, so that a slow receiver does not delay the others. */
  const busy = new Map<string, Promise<number>>();
  let isClosed = false;

  const deliver = async (due: DueWebhookDelivery, seals: SecretSealer): Promise<void> => {
    const secrets = [due.sealed, due.sealedBefore]
      .filter((one) => one !== null)
      .map((one) => seals.open(due.endpointId, one))
      .filter((one) => one !== undefined);
    const license = await inTransaction(pool, (db) => getLicense(db, { id: due.licenseId }));
    const message = { id: due.eventId, body: webhookBodyOf(due, license) };
    const outcome =
      secrets.length === 0
        ? failedAttempt('the secret of the endpoint cannot be decrypted with LICENSE_SEAL')
        : await sendWebhook(sender, { url: due.url, secrets }, message);
    await inTransaction(pool, (db) => recordOutcome(db, due, outcome));
    const { endpointId, kind, tries } = due;
    const { status, ms, error } = outcome.tried;
    logger.info(
      { endpointId, kind, tries, status, durationMs: ms, ...(error !== null && { error }) },
      'webhook',
    );
  };

  const take = (which: DeliverySelection): Promise<DueWebhookDelivery[]> =>
    inTransaction(pool, (db) => claimDueDeliveries(db, which));

  /** Delivers the endpoint's due deliveries in batches until a batch is not full. Returns the number of attempts. */
  const deliverAll = async (
    endpointId: string,
    first: readonly DueWebhookDelivery[],
    seals: SecretSealer,
  ): Promise<number> => {
    const selection = { skippedEndpointIds: [], onlyEndpointId: endpointId };
    let count = 0;
    try {
      for (let portion = first; ; portion = await take(selection)) {
        count += portion.length;
        const done = await Promise.allSettled(portion.map((due) => deliver(due, seals)));
        const failed = done.find((one) => one.status === 'rejected');
        if (failed !== undefined) throw failed.reason;
        if (isClosed || portion.length < maxAttemptsPerEndpoint) break;
      }
    } catch (error) {
      logger.warn({ err: error }, 'what came of webhooks could not be kept; they are tried again');
    } finally {
      busy.delete(endpointId);
    }
    return count;
  };

  /** Starts deliveries and returns one promise per endpoint with its number of attempts. */
  const begin = async (): Promise<Promise<number>[]> => {
    const seals = sealing();
    if (seals === undefined) return [];
    const ofEndpoints = Map.groupBy(
      await take({ skippedEndpointIds: [...busy.keys()], onlyEndpointId: null }),
      (due) => due.endpointId,
    );
    return [...ofEndpoints].map(([id, all]) => {
      const tries = deliverAll(id, all, seals);
      busy.set(id, tries);
      return tries;
    });
  };

  return {
    startDueDeliveries: async () => void (await begin()),
    send: async () => (await Promise.all(await begin())).reduce((sum, count) => sum + count, 0),
    test: async (endpoint) =>
      (await sendWebhook(sender, endpoint, { id: newId(), body: testWebhookBody(new Date()) })).tried,
    close: async () => {
      isClosed = true;
      await Promise.all(busy.values());
      sender.close();
    },
  };
}
