/** Setup for specs of webhooks: webhooks, workers that send them, and a receiver. */
import { startLoop } from '@muster/http';
import { afterEach, beforeEach, expect } from '@jest/globals';
import { createPool } from '@muster/driver';
import {
  acquireWebhook,
  type SentMessage,
  runDeliveryRound,
  type TurnResponse,
  createWebhookHandlers,
} from '@muster/notifications';
import { type AllHandlers, handlers, reactions } from '@muster/operations';
import { createDeviceHandlers } from '@muster/organizations';
import { createSecretCipher, parseNetworks } from '@muster/outbound';
import { type InputOf } from '@muster/contract';
import { type NotificationsRegistry } from '@muster/notifications-registry';
import { inOrganizationAsSystem } from '@muster/tenancy';
import { withTestTimeouts, type People, type Person, waitUntil, useWorld, type World } from '@muster/testing';
import { createSender } from '@muster/outbound/sender';
import { createWebhookRunner } from '../src/webhooks/runner.ts';
import { openReceiver, type PushReceiver } from './receiver.ts';

const turnConfig = {
  networks: parseNetworks('127.0.0.0/8:*'),
  seals: createSecretCipher(['a key of this installation, for specs']),
  subjectUrl: 'https://app.example/{type}/{key}',
};

type Draft = Partial<InputOf<NotificationsRegistry['webhooks']['create']>>;

export interface WebhookWorld {
  readonly world: World<AllHandlers>;
  readonly people: People<AllHandlers>;
  readonly receiver: PushReceiver;
  /** Starts a worker that sends due messages until it is stopped or the spec ends. */
  startWorker(): { readonly stop: () => Promise<void> };
  /**
   * Takes ownership of a webhook as a worker does, and runs `work`. In `work`, each call of `turn` saves the
   * results of the sent messages and fetches further messages.
   */
  withTurns(
    webhookId: string,
    work: (turn: (sent: readonly SentMessage[]) => Promise<TurnResponse | undefined>) => Promise<void>,
  ): Promise<void>;
  createWebhook(
    draft?: Draft,
    who?: Person<AllHandlers>,
  ): ReturnType<Person<AllHandlers>['webhooks']['create']>;
  createStories(count: number, projectId?: string, from?: number): Promise<void>;
  /** Returns the sequence numbers of the received messages, in order. */
  seqs(): number[];
  waitForArrivals(count: number): Promise<void>;
  stateOf(webhookId: string): Promise<Awaited<ReturnType<Person<AllHandlers>['webhooks']['get']>>['webhook']>;
  /** Makes all waiting deliveries due. */
  makeDue(webhookId: string): Promise<unknown>;
  /** Waits until a delivery has this many attempts. */
  waitForAttempts(webhookId: string, count: number): Promise<void>;
  delivered(webhookId: string, count: number): Promise<void>;
}

/** Lists 1, 2, 3 … up to `count`. */
export const numbersUpTo = (count: number): number[] => Array.from({ length: count }, (_, nth) => nth + 1);

export function useWebhooks(): WebhookWorld {
  const world = useWorld(
    {
      ...handlers,
      devices: createDeviceHandlers(turnConfig.seals),
      webhooks: createWebhookHandlers(turnConfig),
    },
    reactions,
  );
  let people: People<AllHandlers> | undefined;
  let receiver: PushReceiver | undefined;
  let workers: { readonly stop: () => Promise<void> }[] = [];
  let faults: unknown[] = [];

  beforeEach(async () => {
    faults = [];
    people = await world.org();
    receiver = await openReceiver();
    await people.ana.projects.create({ key: 'WEB', name: 'Web', visibility: 'org' });
  });
  afterEach(async () => {
    receiver?.answer(200);
    await receiver?.close();
    await Promise.all(workers.map((worker) => worker.stop()));
    expect(faults).toEqual([]);
  });

  const now = (): { readonly people: People<AllHandlers>; readonly receiver: PushReceiver } => {
    if (people === undefined || receiver === undefined) throw new Error('they are there from beforeEach on');
    return { people, receiver };
  };
  const listed = async (webhookId: string, state?: 'delivered') =>
    (await now().people.ana.webhooks.deliveries.list({ webhookId, state })).items;

  const openPool = () =>
    withTestTimeouts(createPool({ url: world.database.url, role: 'muster_app', name: 'webhooks', max: 4 }));

  return {
    world,
    get people() {
      return now().people;
    },
    get receiver() {
      return now().receiver;
    },
    startWorker: () => {
      const pool = openPool();
      const runner = createWebhookRunner({
        pool,
        sender: createSender({ networks: turnConfig.networks }),
        turnConfig: { ...turnConfig, reactions },
        onAttempt: () => undefined,
        onFault: (error) => faults.push(error),
      });
      const loop = startLoop(
        20,
        () => runner.look(pool),
        (error) => faults.push(error),
      );
      const worker = {
        stop: async () => {
          workers = workers.filter((one) => one !== worker);
          await Promise.all([loop.stop(), runner.stop()]);
          await pool.end();
        },
      };
      workers.push(worker);
      return worker;
    },
    withTurns: async (webhookId, work) => {
      const pool = openPool();
      const { orgId } = now().people;
      try {
        const held = await inOrganizationAsSystem(pool, orgId, (db) => acquireWebhook(db, webhookId));
        const epoch = held?.worker_epoch ?? 0;
        await work((sent) => {
          const asked = { orgId, webhookId, epoch, sent, withWorker: [], most: 10, releasesEndpoint: false };
          return inOrganizationAsSystem(pool, orgId, (db) =>
            runDeliveryRound(db, asked, { ...turnConfig, reactions }),
          );
        });
      } finally {
        await pool.end();
      }
    },
    createWebhook: (draft = {}, who = now().people.ana) =>
      who.webhooks.create({ url: now().receiver.url, kinds: ['story.created'], ...draft }),
    createStories: async (count, projectId = 'WEB', from = 1) => {
      for (let nth = from; nth < from + count; nth += 1)
        await now().people.ana.stories.create({ projectId, title: `Story ${nth}` });
    },
    seqs: () => now().receiver.received.map(({ seq }) => seq),
    waitForArrivals: (count) => waitUntil(async () => now().receiver.received.length >= count),
    stateOf: async (webhookId) => (await now().people.ana.webhooks.get({ webhookId })).webhook,
    makeDue: (webhookId) =>
      world.rows(
        `with d as (update webhook_deliveries set next_at = now() where webhook_id = $1 and state = 'pending' and next_at is not null)
         update webhooks set next_at = now() where id = $1`,
        webhookId,
      ),
    waitForAttempts: (webhookId, count) =>
      waitUntil(async () => (await listed(webhookId)).some(({ tries }) => tries.length >= count)),
    delivered: (webhookId, count) =>
      waitUntil(async () => (await listed(webhookId, 'delivered')).length === count),
  };
}
