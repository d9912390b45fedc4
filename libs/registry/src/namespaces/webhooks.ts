import { z } from 'zod';
import { org } from '../kernel/access.ts';
import { notAsTool, operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { Deleted, ExpectedVersion, Id, Instant, ProjectRef } from '../kernel/values.ts';
import {
  Webhook,
  WebhookDelivery,
  webhookDeliveryStates,
  WebhookDescription,
  WebhookExchange,
  WebhookKinds,
  WebhookOrder,
  WebhookUrl,
} from '../records/webhook.ts';

/**
 * The access rule of the webhook operations. Only people may call them: a lead of the endpoint's project, or
 * an admin for an endpoint of the organization.
 */
const byLeads = {
  access: org('member', 'projectLead', 'admin'),
  byMemberOnly: true,
  surfaces: notAsTool,
} as const;
const writesAsLead = { ...byLeads, effect: 'write', auditsRefusal: true } as const;
const readsAsLead = { ...byLeads, effect: 'read' } as const;

const webhookId = '01936d5c-0000-7000-8000-000000000080';
const deliveryId = '01936d5c-0000-7000-8000-000000000081';

/**
 * The first or last message of a range: a message number of the endpoint, which the command line sends as
 * text, or a time.
 */
const Edge = z.union([
  z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  z.string().regex(/^[1-9]\d{0,14}$/),
  Instant,
]);

export const webhooks = {
  create: operation({
    ...writesAsLead,
    name: 'webhooks.create',
    summary: 'Have events sent to an address',
    keywords: 'subscribe endpoint callback notify integration outgoing push http',
    description: `From now on, each event of the project, or of the organization, whose kind is named, as far as you may see it at the time of sending. Messages are signed as Standard Webhooks says, with the secret that this answers, once. At most 50 in an organization.`,
    needsProof: true,
    params: z.strictObject({
      projectId: ProjectRef.optional(),
      url: WebhookUrl,
      kinds: WebhookKinds,
      order: WebhookOrder.default('parallel'),
      description: WebhookDescription.default(''),
    }),
    result: z.object({ webhook: Webhook, secret: z.string() }),
    refusals: ['limit_exceeded', 'archived'],
    emits: ['webhook.created'],
    secret: 'secret',
    example: { projectId: 'WEB', url: 'https://hooks.acme.example/muster', kinds: ['story.created'] },
  }),
  update: operation({
    ...writesAsLead,
    name: 'webhooks.update',
    idempotent: true,
    summary: 'Change a webhook',
    keywords: 'edit endpoint url kinds',
    description: `What waits to be sent goes to the new address. Kinds count for events that are not taken up yet.`,
    params: z.strictObject({
      webhookId: Id,
      url: WebhookUrl.optional(),
      kinds: WebhookKinds.optional(),
      order: WebhookOrder.optional(),
      description: WebhookDescription.nullable().optional(),
      expectedVersion: ExpectedVersion,
    }),
    result: z.object({ webhook: Webhook }),
    refusals: ['version_mismatch'],
    emits: ['webhook.updated'],
    example: { webhookId, order: 'strict' },
  }),
  delete: operation({
    ...writesAsLead,
    name: 'webhooks.delete',
    idempotent: true,
    destructive: true,
    summary: 'Delete a webhook, with all that is known of its deliveries',
    keywords: 'remove endpoint unsubscribe',
    description: `What was not sent is not sent any more. To stop for a while, pause it.`,
    params: z.strictObject({ webhookId: Id }),
    result: Deleted,
    emits: ['webhook.deleted'],
    example: { webhookId },
  }),
  get: operation({
    ...readsAsLead,
    name: 'webhooks.get',
    summary: 'Get a webhook, with how it fares',
    keywords: 'endpoint status health lag',
    description: `Its secret is not shown again: rotate it.`,
    params: z.strictObject({ webhookId: Id }),
    result: z.object({ webhook: Webhook }),
    example: { webhookId },
  }),
  list: operation({
    ...readsAsLead,
    name: 'webhooks.list',
    summary: 'List webhooks',
    keywords: 'endpoints subscriptions',
    description: `Those of a project, oldest first; without projectId, and for admins, all of the organization.`,
    params: z.strictObject({ projectId: ProjectRef.optional(), ...page }),
    result: pageOf(Webhook),
    example: { projectId: 'WEB' },
  }),
  rotateSecret: operation({
    ...writesAsLead,
    name: 'webhooks.rotateSecret',
    summary: 'Give a webhook a new secret',
    keywords: 'renew key signature leak',
    description: `For overlapSeconds both sign each message, so that the receiver can change over without missing one; 0 ends the old one now. The new one is shown once.`,
    needsProof: true,
    params: z.strictObject({
      webhookId: Id,
      overlapSeconds: z.int().min(0).max(604_800).default(86_400),
    }),
    result: z.object({ webhook: Webhook, secret: z.string() }),
    emits: ['webhook.updated'],
    secret: 'secret',
    example: { webhookId },
  }),
  test: operation({
    ...writesAsLead,
    name: 'webhooks.test',
    summary: 'Send a test message to a webhook',
    keywords: 'ping try check',
    description: `One signed message of type webhook.test, tried once, also while the webhook is paused. A worker sends it at once: webhooks.deliveries.get says what came back.`,
    params: z.strictObject({ webhookId: Id }),
    result: z.object({ delivery: WebhookDelivery }),
    refusals: ['limit_exceeded'],
    example: { webhookId },
  }),
  pause: operation({
    ...writesAsLead,
    name: 'webhooks.pause',
    idempotent: true,
    summary: 'Pause a webhook',
    keywords: 'stop disable suspend mute',
    description: `Nothing is sent until it is resumed, and nothing is lost meanwhile.`,
    params: z.strictObject({ webhookId: Id }),
    result: z.object({ webhook: Webhook }),
    emits: ['webhook.paused'],
    example: { webhookId },
  }),
  resume: operation({
    ...writesAsLead,
    name: 'webhooks.resume',
    idempotent: true,
    summary: 'Resume a webhook that was paused',
    keywords: 'start enable unpause continue retry',
    description: `What waits is tried at once, and then what happened meanwhile. Where its maker has left the organization, you are its maker from now on: it sends what you may see.`,
    params: z.strictObject({ webhookId: Id }),
    result: z.object({ webhook: Webhook }),
    emits: ['webhook.resumed'],
    example: { webhookId },
  }),
  replay: operation({
    ...writesAsLead,
    name: 'webhooks.replay',
    summary: 'Send again what a webhook sent in a range',
    keywords: 'resend redeliver backfill recover missed',
    description: `From one to the other, both included: numbers of the endpoint's own count, or times of events. Each goes out with the id and number that it had; what waits to be sent anyway is not counted. What was delivered more than 30 days ago is no longer kept. At most 10,000 at once.`,
    params: z.strictObject({ webhookId: Id, from: Edge, to: Edge }),
    result: z.object({ count: z.int() }),
    refusals: ['resync', 'limit_exceeded'],
    example: { webhookId, from: '1', to: '10' },
  }),
  deliveries: {
    list: operation({
      ...readsAsLead,
      name: 'webhooks.deliveries.list',
      summary: 'List what a webhook sent, and what it has to send',
      keywords: 'attempts log history tries failed',
      description: `Newest first, of the last 30 days.`,
      params: z.strictObject({
        webhookId: Id,
        state: z.enum(webhookDeliveryStates).optional(),
        ...page,
      }),
      result: pageOf(WebhookDelivery),
      example: { webhookId },
    }),
    get: operation({
      ...readsAsLead,
      name: 'webhooks.deliveries.get',
      summary: 'Get a delivery of a webhook, with request and answer',
      keywords: 'attempt response body inspect debug',
      description: `The cursor in the body is sealed anew each time, and means the same.`,
      params: z.strictObject({ deliveryId: Id }),
      result: z.object({ delivery: WebhookExchange }),
      example: { deliveryId },
    }),
    redeliver: operation({
      ...writesAsLead,
      name: 'webhooks.deliveries.redeliver',
      summary: 'Send one delivery of a webhook again',
      keywords: 'resend retry now',
      description: `With its id and number. One that waits for its next try is tried at once; while the webhook is paused, when that is resumed.`,
      params: z.strictObject({ deliveryId: Id }),
      result: z.object({ delivery: WebhookDelivery }),
      example: { deliveryId },
    }),
  },
};
