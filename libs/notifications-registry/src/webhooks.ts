import { z } from 'zod';
import {
  org,
  surfacesWithoutTool,
  operation,
  pageParams,
  pageSchemaOf,
  Deleted,
  ExpectedVersion,
  Id,
  Instant,
  ProjectRef,
  Webhook,
  WebhookDelivery,
  webhookDeliveryStates,
  WebhookDescription,
  WebhookExchange,
  WebhookFormat,
  WebhookKinds,
  WebhookOrder,
  WebhookUrl,
} from '@muster/contract';

/**
 * The access rule of the webhook operations. Only people may call them: a lead of the endpoint's project, or
 * an admin for an endpoint of the organization.
 */
const leadAccess = {
  access: org('member', 'projectLead', 'admin'),
  byMemberOnly: true,
  surfaces: surfacesWithoutTool,
} as const;
const leadWriteAccess = { ...leadAccess, effect: 'write', auditsRefusal: true } as const;
const leadReadAccess = { ...leadAccess, effect: 'read' } as const;

const webhookId = '01936d5c-0000-7000-8000-000000000080';
const deliveryId = '01936d5c-0000-7000-8000-000000000081';

/**
 * The first or last message of a range: a message number of the endpoint, which the command line sends as
 * text, or a time.
 */
const RangeEdge = z.union([
  z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  z.string().regex(/^[1-9]\d{0,14}$/),
  Instant,
]);

export const webhooks = {
  create: operation({
    ...leadWriteAccess,
    name: 'webhooks.create',
    summary: 'Create a webhook that sends events to a URL',
    keywords: 'subscribe endpoint callback notify integration outgoing push http siem ocsf splunk audit',
    description:
      'Sends every future event of the given kinds, in the project or the organization, that you may see at the time of sending. Messages are signed as Standard Webhooks specifies; the secret is shown only in this response. A kind such as spec.* subscribes to every kind with that prefix. Webhooks of the organization also take audit.allowed, audit.denied and audit.*: audit entries as API Activity of OCSF. The formats slack and teams send messages to a channel, without signature: secret is empty. At most 50 webhooks per organization.',
    needsProof: true,
    params: z.strictObject({
      projectId: ProjectRef.optional(),
      url: WebhookUrl,
      kinds: WebhookKinds,
      order: WebhookOrder.default('parallel'),
      format: WebhookFormat.default('standard'),
      description: WebhookDescription.default(''),
    }),
    result: z.object({ webhook: Webhook, secret: z.string() }),
    refusals: ['limit_exceeded', 'archived'],
    emits: ['webhook.created'],
    secret: 'secret',
    example: { projectId: 'WEB', url: 'https://hooks.acme.example/muster', kinds: ['story.created'] },
  }),
  update: operation({
    ...leadWriteAccess,
    name: 'webhooks.update',
    idempotent: true,
    summary: 'Change a webhook',
    keywords: 'edit endpoint url kinds',
    description:
      'Pending events are sent to the new URL. Changed kinds apply to events that are not queued yet.',
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
    ...leadWriteAccess,
    name: 'webhooks.delete',
    idempotent: true,
    destructive: true,
    summary: 'Delete a webhook and its delivery history',
    keywords: 'remove endpoint unsubscribe',
    description: 'Pending events are not sent. To stop only for a while, pause the webhook.',
    params: z.strictObject({ webhookId: Id }),
    result: Deleted,
    emits: ['webhook.deleted'],
    example: { webhookId },
  }),
  get: operation({
    ...leadReadAccess,
    name: 'webhooks.get',
    summary: 'Get a webhook, with its health',
    keywords: 'endpoint status health lag',
    description: 'Its secret is not shown again; use webhooks.rotateSecret for a new one.',
    params: z.strictObject({ webhookId: Id }),
    result: z.object({ webhook: Webhook }),
    example: { webhookId },
  }),
  list: operation({
    ...leadReadAccess,
    name: 'webhooks.list',
    summary: 'List webhooks',
    keywords: 'endpoints subscriptions',
    description:
      'The webhooks of a project, oldest first; admins can omit projectId to list all of the organization.',
    params: z.strictObject({ projectId: ProjectRef.optional(), ...pageParams }),
    result: pageSchemaOf(Webhook),
    example: { projectId: 'WEB' },
  }),
  rotateSecret: operation({
    ...leadWriteAccess,
    name: 'webhooks.rotateSecret',
    summary: 'Rotate the secret of a webhook',
    keywords: 'renew key signature leak',
    description:
      'During overlapSeconds each message is signed with both secrets, so that the receiver can switch without missing one; 0 ends the old secret now. The new secret is shown only in this response.',
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
    ...leadWriteAccess,
    name: 'webhooks.test',
    summary: 'Send a test message to a webhook',
    keywords: 'ping try check',
    description:
      'Sends one signed message of type webhook.test, once, even if the webhook is paused. It is sent immediately in the background; webhooks.deliveries.get shows the response.',
    params: z.strictObject({ webhookId: Id }),
    result: z.object({ delivery: WebhookDelivery }),
    refusals: ['limit_exceeded'],
    example: { webhookId },
  }),
  pause: operation({
    ...leadWriteAccess,
    name: 'webhooks.pause',
    idempotent: true,
    summary: 'Pause a webhook',
    keywords: 'stop disable suspend mute',
    description: 'Events are kept, but not sent until the webhook is resumed.',
    params: z.strictObject({ webhookId: Id }),
    result: z.object({ webhook: Webhook }),
    emits: ['webhook.paused'],
    example: { webhookId },
  }),
  resume: operation({
    ...leadWriteAccess,
    name: 'webhooks.resume',
    idempotent: true,
    summary: 'Resume a paused webhook',
    keywords: 'start enable unpause continue retry',
    description:
      "Pending events are sent immediately, followed by those that happened during the pause. If the webhook's creator has left the organization, or sends audit entries and is no longer an admin, you become its creator, and it sends what you may see.",
    params: z.strictObject({ webhookId: Id }),
    result: z.object({ webhook: Webhook }),
    emits: ['webhook.resumed'],
    example: { webhookId },
  }),
  replay: operation({
    ...leadWriteAccess,
    name: 'webhooks.replay',
    summary: "Send the webhook's events in a range again",
    keywords: 'resend redeliver backfill recover missed',
    description:
      'Both ends are included; they are sequence numbers of the webhook, or times of events. Each event keeps its id and number; events that are still pending are not counted. Events delivered more than 30 days ago are no longer available. At most 10,000 per call.',
    params: z.strictObject({ webhookId: Id, from: RangeEdge, to: RangeEdge }),
    result: z.object({ count: z.int() }),
    refusals: ['resync', 'limit_exceeded'],
    example: { webhookId, from: '1', to: '10' },
  }),
  deliveries: {
    list: operation({
      ...leadReadAccess,
      name: 'webhooks.deliveries.list',
      summary: 'List the deliveries of a webhook',
      keywords: 'attempts log history tries failed',
      description: 'Newest first, for the last 30 days.',
      params: z.strictObject({
        webhookId: Id,
        state: z.enum(webhookDeliveryStates).optional(),
        ...pageParams,
      }),
      result: pageSchemaOf(WebhookDelivery),
      example: { webhookId },
    }),
    get: operation({
      ...leadReadAccess,
      name: 'webhooks.deliveries.get',
      summary: 'Get a delivery of a webhook, with request and response',
      keywords: 'attempt response body inspect debug',
      description: 'The cursor in the body is encrypted anew each time, but has the same meaning.',
      params: z.strictObject({ deliveryId: Id }),
      result: z.object({ delivery: WebhookExchange }),
      example: { deliveryId },
    }),
    redeliver: operation({
      ...leadWriteAccess,
      name: 'webhooks.deliveries.redeliver',
      summary: 'Send one delivery of a webhook again',
      keywords: 'resend retry now',
      description:
        'Keeps its id and number. A delivery that waits for its next attempt is tried immediately; while the webhook is paused, when it is resumed.',
      params: z.strictObject({ deliveryId: Id }),
      result: z.object({ delivery: WebhookDelivery }),
      example: { deliveryId },
    }),
  },
};
