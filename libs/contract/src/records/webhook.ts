/** Webhook endpoints and the messages sent to them. */
import { z } from 'zod';
import { eventKindPatterns, eventKinds } from '../kernel/events.ts';
import { Id, recordStamps, boundedText, Time, Url } from '../kernel/values.ts';
import { chatServices } from './device.ts';
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
  description: 'parallel sends up to 8 events at a time in any order; strict sends one at a time, in order',
});

export const webhookFormats = ['standard', ...chatServices] as const;
export type WebhookFormat = (typeof webhookFormats)[number];
export const WebhookFormat = z.enum(webhookFormats).meta({
  description:
    'slack and teams send short messages for people to a channel, one at a time, and of comments only questions. Their URL is a secret: responses show its host',
});

/**
 * The reasons why an endpoint is paused: a caller requested it, ten attempts failed, the receiver answered
 * 410, the endpoint's creator left or is no longer an admin although it receives audit entries, or its secret
 * cannot be decrypted.
 */
export const webhookPauses = ['asked', 'failing', 'gone', 'maker_left', 'secret_unreadable'] as const;
export type WebhookPause = (typeof webhookPauses)[number];

export const WebhookUrl = Url.meta({
  description:
    'https on port 443 or 8443; other ports and private networks only if the operator allowed them',
});
/** The kinds of messages with an audit entry, by the outcome of the call. */
export const auditKinds = ['audit.allowed', 'audit.denied'] as const;
/** Everything that a webhook can subscribe to: kinds, and patterns that match all kinds with a prefix. */
export const webhookKinds = [...eventKinds, ...eventKindPatterns, ...auditKinds, 'audit.*'] as const;
export const isAuditKind = (kind: string): boolean => kind.startsWith('audit.');

export const WebhookKinds = z
  .array(
    z.enum(webhookKinds, {
      error: 'must be an event kind such as story.created, or a pattern such as story.* or audit.*',
    }),
  )
  .min(1)
  .max(webhookKinds.length)
  .overwrite((kinds) => [...new Set(kinds)]);
export const WebhookDescription = boundedText(500);

export const Webhook = z
  .object({
    id: Id,
    projectId: Id.nullable(),
    url: z.string(),
    kinds: z.array(z.string()),
    order: WebhookOrder,
    format: WebhookFormat,
    description: z.string().nullable(),
    state: z.enum(['active', 'paused']),
    pausedReason: z.enum(webhookPauses).nullable(),
    pausedAt: Time.nullable(),
    lag: z.int().describe('Age in seconds of the oldest event that is not delivered yet; 0 if there is none'),
    failing: z.int().describe('The number of failed attempts since the last success'),
    lastSuccessAt: Time.nullable(),
    lastFailureAt: Time.nullable(),
    madeBy: Actor.describe('The member whose permissions decide which events are sent'),
    ...recordStamps,
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof Webhook>;

export const webhookDeliveryStates = ['pending', 'delivered', 'failed'] as const;

export const WebhookTry = z.object({
  at: Time,
  status: z.int().nullable().describe('The status of the response; null if there was none'),
  ms: z.int(),
  error: z.string().nullable(),
});
export type WebhookTry = z.infer<typeof WebhookTry>;

const deliveryFields = {
  id: Id,
  webhookId: Id,
  eventId: Id.describe('The same webhook-id in all attempts'),
  seq: z.int().nullable().describe("The webhook's own sequence number, from 1 without gaps; null for a test"),
  kind: z.string(),
  state: z.enum(webhookDeliveryStates),
  tries: z.array(WebhookTry).describe('The last 20 attempts, oldest first'),
  nextTryAt: Time.nullable(),
  doneAt: Time.nullable(),
  createdAt: Time,
};
export const WebhookDelivery = z.object(deliveryFields).meta({ id: 'WebhookDelivery' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const WebhookExchange = z
  .object({
    ...deliveryFields,
    request: z.object({ url: z.string(), body: z.string() }),
    answer: z.string().nullable().describe('The first 2 KiB of the last response'),
  })
  .meta({ id: 'WebhookExchange' });
export type WebhookExchange = z.infer<typeof WebhookExchange>;
