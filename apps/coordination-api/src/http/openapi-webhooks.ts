/**
 * The `webhooks` section of OpenAPI 3.1: messages that Muster sends to customers' endpoints, so that
 * generators create types for them.
 */
import { type JsonFields, toComponentSchema } from '@muster/reference';
import {
  ActivityItem,
  auditKinds,
  EventCursor,
  type EventKind,
  eventKinds,
  events,
  Id,
  OcsfApiActivity,
  webhookTestKind,
  webhookWithheldKind,
} from '@muster/contract';
import { z } from 'zod';

const { actor, projectId, subject, at } = ActivityItem.shape;
const sequenceFields = {
  seq: z.int().min(1).describe("The webhook's own sequence number, from 1 without gaps"),
  cursor: EventCursor.describe('A value for `after` of events.list, just after this event'),
};
/** The fields of every event; each kind adds its own `type` and `data.data`. */
const eventMessage = z
  .looseObject({
    timestamp: at,
    data: z.looseObject({
      ...{ ...sequenceFields, actor, projectId, subject },
      url: z
        .string()
        .nullable()
        .describe('The page where people see the subject; null if no address is configured'),
    }),
  })
  .meta({ id: 'WebhookMessage' });

const messageSchemaOf = (kind: string, data: z.ZodType): z.ZodType =>
  z.object({ type: z.literal(kind), timestamp: at, data });
const eventSchemaOf = (kind: EventKind): z.ZodType =>
  z.intersection(
    eventMessage,
    z.looseObject({ type: z.literal(kind), data: z.looseObject({ data: events[kind] }) }),
  );

const headerParameter = (name: string, description: string): JsonFields => ({
  ...{ name, in: 'header', required: true, description },
  schema: { type: 'string' },
});
/** The headers of the Standard Webhooks specification. */
export const webhookParameters: JsonFields = {
  WebhookId: headerParameter('webhook-id', 'The same in all attempts'),
  WebhookTimestamp: headerParameter('webhook-timestamp', 'When this attempt was sent, in seconds since 1970'),
  WebhookSignature: headerParameter(
    'webhook-signature',
    'Signatures of id, timestamp and body, one for each secret',
  ),
};

function webhookItemOf(components: JsonFields, kind: string, summary: string, body: z.ZodType): JsonFields {
  return {
    post: {
      operationId: `webhook_${kind.replaceAll('.', '_')}`,
      tags: ['webhooks'],
      summary,
      security: [],
      parameters: Object.keys(webhookParameters).map((name) => ({
        $ref: `#/components/parameters/${name}`,
      })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: toComponentSchema(components, body, 'output') } },
      },
      responses: {
        '2XX': { description: 'The message was received; after any other response it is sent again' },
        410: { description: 'The receiver no longer exists; the webhook is paused' },
      },
    },
  };
}

export const webhookItems = (components: JsonFields): JsonFields => ({
  ...Object.fromEntries(
    eventKinds.map((kind) => [
      kind,
      webhookItemOf(components, kind, `The event ${kind}`, eventSchemaOf(kind)),
    ]),
  ),
  ...Object.fromEntries(
    auditKinds.map((kind) => [
      kind,
      webhookItemOf(
        components,
        kind,
        'An audit entry as API Activity of OCSF',
        messageSchemaOf(kind, z.intersection(OcsfApiActivity, z.looseObject({ seq: sequenceFields.seq }))),
      ),
    ]),
  ),
  [webhookWithheldKind]: webhookItemOf(
    components,
    webhookWithheldKind,
    "Replaces an event that the webhook's creator may no longer see, or an audit entry that is no longer kept",
    messageSchemaOf(webhookWithheldKind, z.object(sequenceFields).partial({ cursor: true })),
  ),
  [webhookTestKind]: webhookItemOf(
    components,
    webhookTestKind,
    'Sent only by webhooks.test',
    messageSchemaOf(webhookTestKind, z.object({ webhookId: Id })),
  ),
});
