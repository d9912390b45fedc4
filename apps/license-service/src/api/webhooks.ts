/** Operations on webhook endpoints and their deliveries for operators' programs. */
import { urlRefusalReason, type AllowedNetwork } from '@muster/outbound';
import { z } from 'zod';
import {
  getEndpointTarget,
  changeEndpoint,
  deleteEndpoint,
  dropOldSecret,
  listDeliveries,
  listEndpoints,
  makeEndpoint,
  redeliver,
  rotateSecret,
} from '../operators/webhooks.ts';
import { defineOperation, type AnyOperation } from './operation.ts';
import { DeliveryRecord, EndpointRecord, PageLimit } from './records.ts';

/** The event kinds that an endpoint may subscribe to. */
const webhookEventKinds = [
  ...['issued', 'imported', 'activated', 'released', 'transferred', 'suspended', 'resumed', 'revoked'],
  ...['renewed', 'rotated', 'certified', 'entitled', 'resized', 'usage_reset', 'expiring', 'expired'],
] as const;

const EndpointId = z.uuid();
const EventKinds = z
  .array(z.enum(webhookEventKinds))
  .min(1)
  .nullable()
  .describe('The kinds of events to send; null means all events.');
const SigningSecret = z
  .string()
  .describe('The signing secret in the format of Standard Webhooks; shown only once.');
const EndpointResult = z.object({ endpoint: EndpointRecord });
const EndpointWithSecret = z.object({ endpoint: EndpointRecord, secret: SigningSecret });

const webhookUrlSchema = (allowedNetworks: readonly AllowedNetwork[]) =>
  z
    .url()
    .max(2_048)
    .refine((url) => URL.canParse(url) && urlRefusalReason(url, allowedNetworks) === null, {
      error: ({ input }) =>
        URL.canParse(String(input))
          ? (urlRefusalReason(String(input), allowedNetworks) ?? '')
          : 'must be a URL',
    });

/** Defines the operations on endpoints and their subscriptions. */
function endpointOperations(allowedNetworks: readonly AllowedNetwork[]): AnyOperation[] {
  const Url = webhookUrlSchema(allowedNetworks);
  return [
    defineOperation({
      path: 'webhooks/create',
      scope: 'webhooks',
      summary: 'Create a webhook for events of licenses',
      params: z.strictObject({ url: Url, kinds: EventKinds.default(null) }),
      result: EndpointWithSecret,
      run: ({ db, sealing, token: { product } }, { url, kinds }) =>
        makeEndpoint(db, sealing, { product, url, kinds }),
    }),
    defineOperation({
      path: 'webhooks/list',
      scope: 'webhooks',
      summary: 'List the webhooks',
      params: z.strictObject({}),
      result: z.object({ items: z.array(EndpointRecord) }),
      run: async ({ db, token: { product } }) => ({
        items: await listEndpoints(db, product),
      }),
    }),
    defineOperation({
      path: 'webhooks/update',
      scope: 'webhooks',
      summary: 'Change the URL or the events of a webhook, or pause it',
      description:
        'Events that happen while it is inactive are not sent; events that were already pending are sent later.',
      params: z.strictObject({
        id: EndpointId,
        url: Url.optional(),
        kinds: EventKinds.optional(),
        isActive: z.boolean().optional(),
      }),
      result: EndpointResult,
      run: async ({ db, token: { product } }, change) => ({
        endpoint: await changeEndpoint(db, { ...change, product }),
      }),
    }),
    defineOperation({
      path: 'webhooks/delete',
      scope: 'webhooks',
      summary: 'Delete a webhook and its pending deliveries',
      params: z.strictObject({ id: EndpointId }),
      result: z.object({}),
      run: async ({ db, token: { product } }, { id }) => {
        await deleteEndpoint(db, { product, id });
        return {};
      },
    }),
  ];
}

const secretOperations: readonly AnyOperation[] = [
  defineOperation({
    path: 'webhooks/rotateSecret',
    scope: 'webhooks',
    summary: 'Create a new secret; both sign until the old one is dropped',
    params: z.strictObject({ id: EndpointId }),
    result: EndpointWithSecret,
    run: ({ db, sealing, token: { product } }, { id }) => rotateSecret(db, sealing, { product, id }),
  }),
  defineOperation({
    path: 'webhooks/dropOldSecret',
    scope: 'webhooks',
    summary: 'Drop the old secret and sign only with the newest',
    params: z.strictObject({ id: EndpointId }),
    result: EndpointResult,
    run: async ({ db, token: { product } }, { id }) => ({
      endpoint: await dropOldSecret(db, { product, id }),
    }),
  }),
];

/** The operations that send a test message and list or repeat deliveries. */
const deliveryOperations: readonly AnyOperation[] = [
  defineOperation({
    path: 'webhooks/test',
    scope: 'webhooks',
    summary: 'Send a message of type license.test immediately, and return the response',
    params: z.strictObject({ id: EndpointId }),
    result: z.object({ status: z.int().nullable(), ms: z.int(), error: z.string().nullable() }),
    run: async ({ db, sealing, webhooks, token: { product } }, { id }) => {
      const address = await getEndpointTarget(db, sealing, { product, id });
      return async () => {
        const { status, ms, error } = await webhooks.test(address);
        return { status, ms, error };
      };
    },
  }),
  defineOperation({
    path: 'webhooks/deliveries',
    scope: 'webhooks',
    summary: 'List the deliveries of a webhook, newest first',
    params: z.strictObject({
      id: EndpointId,
      state: z.enum(['waiting', 'delivered', 'given_up']).optional(),
      limit: PageLimit,
    }),
    result: z.object({ items: z.array(DeliveryRecord) }),
    run: async ({ db, token: { product } }, filter) => ({
      items: await listDeliveries(db, { ...filter, product }),
    }),
  }),
  defineOperation({
    path: 'webhooks/redeliver',
    scope: 'webhooks',
    summary: 'Send a delivery again immediately',
    params: z.strictObject({ id: z.uuid().describe('The delivery.') }),
    result: z.object({}),
    run: async ({ db, token: { product } }, { id }) => {
      await redeliver(db, { product, id });
      return {};
    },
  }),
];

export const webhookOperations = (allowedNetworks: readonly AllowedNetwork[]): AnyOperation[] => [
  ...endpointOperations(allowedNetworks),
  ...secretOperations,
  ...deliveryOperations,
];
