/** Webhook endpoints and the messages sent to them. */
import { z } from 'zod';
import { eventKinds } from '../kernel/events.ts';
import { Id, stamps, text, Time, Url } from '../kernel/values.ts';
import { Actor } from './member.ts';

/** The kind of a test message, which is sent only on request. */
export const webhookTestKind = 'webhook.test';
/**
 * The kind of the message that replaces an event which the endpoint's member may no longer see. The message
 * keeps the number of that event.
 */
export const webhookWithheldKind = 'webhook.withheld';

export const webhookOrders = ['parallel', 'strict'] as const;
export const WebhookOrder = z.enum(webhookOrders).meta({
  description: 'parallel: up to 8 at once, no order; strict: one after the other, and none overtakes another',
});

/**
 * The reasons why an endpoint is paused: a caller requested it, ten attempts failed, the receiver answered
 * 410, the endpoint's creator left, or its secret cannot be decrypted.
 */
export const webhookPauses = ['asked', 'failing', 'gone', 'maker_left', 'secret_unreadable'] as const;
export type WebhookPause = (typeof webhookPauses)[number];

export const WebhookUrl = Url.meta({
  description: 'https at port 443 or 8443; others and private networks only where the operator named them',
});
export const WebhookKinds = z
  .array(z.enum(eventKinds))
  .min(1)
  .max(eventKinds.length)
  .overwrite((kinds) => [...new Set(kinds)]);
export const WebhookDescription = text(500);

export const Webhook = z
  .object({
    id: Id,
    projectId: Id.nullable(),
    url: z.string(),
    kinds: z.array(z.string()),
    order: WebhookOrder,
    description: z.string().nullable(),
    state: z.enum(['active', 'paused']),
    pausedReason: z.enum(webhookPauses).nullable(),
    pausedAt: Time.nullable(),
    lag: z
      .int()
      .describe('Seconds since the oldest event that was taken up and not delivered; 0 without any'),
    failing: z.int().describe('Tries that failed since the last that did not'),
    lastSuccessAt: Time.nullable(),
    lastFailureAt: Time.nullable(),
    madeBy: Actor.describe('Whose rights say what is sent'),
    ...stamps,
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof Webhook>;

export const webhookDeliveryStates = ['pending', 'delivered', 'failed'] as const;

export const WebhookTry = z.object({
  at: Time,
  status: z.int().nullable().describe('Of the answer; null where there was none'),
  ms: z.int(),
  error: z.string().nullable(),
});
export type WebhookTry = z.infer<typeof WebhookTry>;

const delivery = {
  id: Id,
  webhookId: Id,
  eventId: Id.describe('The webhook-id of all tries'),
  seq: z.int().nullable().describe("The endpoint's own count, from 1 without gaps; null of a test"),
  kind: z.string(),
  state: z.enum(webhookDeliveryStates),
  tries: z.array(WebhookTry).describe('The last 20, oldest first'),
  nextTryAt: Time.nullable(),
  doneAt: Time.nullable(),
  createdAt: Time,
};
export const WebhookDelivery = z.object(delivery).meta({ id: 'WebhookDelivery' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const WebhookExchange = z
  .object({
    ...delivery,
    request: z.object({ url: z.string(), body: z.string() }),
    answer: z.string().nullable().describe('The first 2 KiB of the last answer'),
  })
  .meta({ id: 'WebhookExchange' });
export type WebhookExchange = z.infer<typeof WebhookExchange>;
