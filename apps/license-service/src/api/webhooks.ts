/** Operations on webhook endpoints and their deliveries for operators' programs. */
import { refusedUrl, type NamedNetwork } from '@muster/outbound';
import { z } from 'zod';
import {
  addressOf,
  changeEndpoint,
  deleteEndpoint,
  dropOldSecret,
  listDeliveries,
  listEndpoints,
  makeEndpoint,
  redeliver,
  rotateSecret,
} from '../operators/webhooks.ts';
import { operation, type AnyOperation } from './operation.ts';
import { DeliveryRecord, EndpointRecord, Limit } from './records.ts';

/** The event kinds that an endpoint may subscribe to. */
const webhookKinds = [
  ...['issued', 'imported', 'activated', 'released', 'transferred', 'suspended', 'resumed', 'revoked'],
  ...['renewed', 'rotated', 'certified', 'entitled', 'resized', 'expiring', 'expired'],
] as const;

const EndpointId = z.uuid();
const Kinds = z
  .array(z.enum(webhookKinds))
  .min(1)
  .nullable()
  .describe('The kinds of events to send; null means all events.');
const Secret = z.string().describe('The signing secret in the format of Standard Webhooks; shown only once.');
const One = z.object({ endpoint: EndpointRecord });
const WithSecret = z.object({ endpoint: EndpointRecord, secret: Secret });

const urlWithin = (networks: readonly NamedNetwork[]) =>
  z
    .url()
    .max(2_048)
    .refine((url) => URL.canParse(url) && refusedUrl(url, networks) === null, {
      error: ({ input }) =>
        URL.canParse(String(input)) ? (refusedUrl(String(input), networks) ?? '') : 'must be a URL',
    });

/** Defines the operations on endpoints and their subscriptions. */
function endpointOperations(networks: readonly NamedNetwork[]): AnyOperation[] {
  const Url = urlWithin(networks);
  return [
    operation({
      path: 'webhooks/create',
      scope: 'webhooks',
      summary: 'Create a webhook for events of licenses',
      params: z.strictObject({ url: Url, kinds: Kinds.default(null) }),
      result: WithSecret,
      run: ({ db, sealing, token: { product } }, { url, kinds }) =>
        makeEndpoint(db, sealing, { product, url, kinds }),
    }),
    operation({
      path: 'webhooks/list',
      scope: 'webhooks',
      summary: 'List the webhooks',
      params: z.strictObject({}),
      result: z.object({ items: z.array(EndpointRecord) }),
      run: async ({ db, token: { product } }) => ({
        items: await listEndpoints(db, product),
      }),
    }),
    operation({
      path: 'webhooks/update',
      scope: 'webhooks',
      summary: 'Change the URL or the events of a webhook, or pause it',
      description:
        'Events that happen while it is inactive are not sent; events that were already pending are sent later.',
      params: z.strictObject({
        id: EndpointId,
        url: Url.optional(),
        kinds: Kinds.optional(),
        isActive: z.boolean().optional(),
      }),
      result: One,
      run: async ({ db, token: { product } }, change) => ({
        endpoint: await changeEndpoint(db, { ...change, product }),
      }),
    }),
    operation({
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
  operation({
    path: 'webhooks/rotateSecret',
    scope: 'webhooks',
    summary: 'Create a new secret; both sign until the old one is dropped',
    params: z.strictObject({ id: EndpointId }),
    result: WithSecret,
    run: ({ db, sealing, token: { product } }, { id }) => rotateSecret(db, sealing, { product, id }),
  }),
  operation({
    path: 'webhooks/dropOldSecret',
    scope: 'webhooks',
    summary: 'Drop the old secret and sign only with the newest',
    params: z.strictObject({ id: EndpointId }),
    result: One,
    run: async ({ db, token: { product } }, { id }) => ({
      endpoint: await dropOldSecret(db, { product, id }),
    }),
  }),
];

/** The operations that send a test message and list or repeat deliveries. */
const deliveryOperations: readonly AnyOperation[] = [
  operation({
    path: 'webhooks/test',
    scope: 'webhooks',
    summary: 'Send a message of type license.test immediately, and return the response',
    params: z.strictObject({ id: EndpointId }),
    result: z.object({ status: z.int().nullable(), ms: z.int(), error: z.string().nullable() }),
    run: async ({ db, sealing, webhooks, token: { product } }, { id }) => {
      const address = await addressOf(db, sealing, { product, id });
      return async () => {
        const { status, ms, error } = await webhooks.test(address);
        return { status, ms, error };
      };
    },
  }),
  operation({
    path: 'webhooks/deliveries',
    scope: 'webhooks',
    summary: 'List the deliveries of a webhook, newest first',
    params: z.strictObject({
      id: EndpointId,
      state: z.enum(['waiting', 'delivered', 'given_up']).optional(),
      limit: Limit,
    }),
    result: z.object({ items: z.array(DeliveryRecord) }),
    run: async ({ db, token: { product } }, filter) => ({
      items: await listDeliveries(db, { ...filter, product }),
    }),
  }),
  operation({
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

export const webhookOperations = (networks: readonly NamedNetwork[]): AnyOperation[] => [
  ...endpointOperations(networks),
  ...secretOperations,
  ...deliveryOperations,
];
