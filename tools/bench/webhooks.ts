/**
 * Measures webhooks with the shipped worker: the delay of an event after its write was answered, and the
 * events per second that a worker sends to a receiver that answers immediately.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { type Client, createClient, httpTransport } from '@muster/client';
import { type Pool } from '@muster/driver';
import { migrate } from '@muster/migrations';
import { foundOrg } from './data.ts';
import { backlog, whenWritten, writeBacklog, writes } from './events.ts';
import { type Effort } from './measure.ts';
import { type Quantiles, quantiles, whole } from './report.ts';
import { type Services } from './services.ts';

const endpointsOfBacklog = [1, 10];

export interface WebhooksSummary {
  /** The time from the answer of a write to its event at the receiver. */
  readonly lateMillis: Quantiles;
  readonly throughput: readonly {
    readonly order: Order;
    readonly endpoints: number;
    readonly eventsPerSecond: number;
  }[];
}

type Order = 'parallel' | 'strict';

/** A receiver of webhooks. It calls the listener of a path for each message to that path. */
interface Receiver {
  readonly url: string;
  readonly heard: Map<string, (text: string) => void>;
}

interface Bench {
  readonly client: Client;
  readonly owner: Pool;
  readonly orgId: string;
  readonly receiver: Receiver;
}

export async function measureWebhooks(services: Services, { say }: Effort): Promise<WebhooksSummary> {
  say('Starting PostgreSQL (fsync on), Redis, coordination-api and delivery-worker');
  const postgres = await services.postgres();
  await migrate(postgres.url);
  const owner = services.owner(postgres.url);
  const { orgId, token } = await foundOrg(owner, 'bench');
  const environment = {
    DATABASE_URL: postgres.url,
    REDIS_URL: await services.redis(),
    WEBHOOK_NETWORKS: '127.0.0.0/8:*',
  };
  const api = await services.app('coordination-api', await services.bundle(), environment);
  await services.app('delivery-worker', await services.bundle('delivery-worker'), {
    ...environment,
    ...{ BASE_URL: 'https://muster.example', MAIL_FOLDER: tmpdir() },
  });
  const client = createClient(httpTransport({ baseUrl: api.url, token }));
  await client.projects.create({ key: 'WEB', name: 'Website' });
  const bench = { client, owner, orgId, receiver: await openReceiver(services) };

  say(`${writes} writes`);
  const lateMillis = await measureLateness(bench);
  const throughput: WebhooksSummary['throughput'][number][] = [];
  for (const endpoints of endpointsOfBacklog) {
    say(`${whole(backlog)} events to ${endpoints} in parallel order`);
    throughput.push({
      order: 'parallel',
      endpoints,
      eventsPerSecond: await measureBacklog(bench, 'parallel', endpoints),
    });
  }
  say(`${whole(backlog)} events to 1 in strict order`);
  throughput.push({
    order: 'strict',
    endpoints: 1,
    eventsPerSecond: await measureBacklog(bench, 'strict', 1),
  });
  return { lateMillis, throughput };
}

async function openReceiver(services: Services): Promise<Receiver> {
  const heard: Receiver['heard'] = new Map();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(204).end();
      heard.get(request.url ?? '')?.(Buffer.concat(chunks).toString());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  services.onStop(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

async function measureLateness({ client, receiver }: Bench): Promise<Quantiles> {
  const came = new Map<string, number>();
  const all = Promise.withResolvers<undefined>();
  receiver.heard.set('/late', (text) => {
    came.set(/"title":"(Story \d+)"/.exec(text)?.[1] ?? '', performance.now());
    if (came.size === writes) all.resolve(undefined);
  });
  const { webhook } = await client.webhooks.create({ url: `${receiver.url}/late`, kinds: ['story.created'] });
  const answered = await whenWritten(client);
  await all.promise;
  await client.webhooks.delete({ webhookId: webhook.id });
  return quantiles([...answered].map(([title, at]) => Math.max(0, (came.get(title) ?? NaN) - at)));
}

/** Returns the events per second over all endpoints, until each endpoint has received all events. */
async function measureBacklog({ client, owner, orgId, receiver }: Bench, order: Order, count: number) {
  const arrived = Array.from({ length: count }, async (_, nth) => {
    const path = `/${order}-${count}-${nth}`;
    const ids = new Set<string>();
    const all = Promise.withResolvers<undefined>();
    receiver.heard.set(path, (text) => {
      ids.add(/"seq":(\d+)/.exec(text)?.[1] ?? '');
      if (ids.size === backlog) all.resolve(undefined);
    });
    const url = receiver.url + path;
    const { webhook } = await client.webhooks.create({ url, kinds: ['story.updated'], order });
    return { id: webhook.id, all: all.promise };
  });
  const endpoints = await Promise.all(arrived);
  await writeBacklog(owner, orgId);
  const began = performance.now();
  await Promise.all(endpoints.map(({ all }) => all));
  const seconds = (performance.now() - began) / 1_000;
  for (const { id } of endpoints) await client.webhooks.delete({ webhookId: id });
  return (count * backlog) / seconds;
}

export function renderWebhooks({ lateMillis: { p50, p99 }, throughput }: WebhooksSummary): string {
  return [
    `  an event comes by webhook ${whole(p50)} ms (p50), ${whole(p99)} ms (p99) after its write was answered`,
    ...throughput.map(
      ({ order, endpoints, eventsPerSecond }) =>
        `  ${whole(eventsPerSecond)} events/s to ${endpoints === 1 ? 'an endpoint' : `${endpoints} endpoints together`} in ${order} order, of one worker`,
    ),
  ].join('\n');
}
