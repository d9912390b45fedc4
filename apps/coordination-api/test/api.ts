/** Starts the API on a free port with its own database. Members with tokens call it over HTTP. */
import { afterAll, beforeAll } from '@jest/globals';
import { type Client, createClient, httpTransport } from '@muster/client';
import { type AllHandlers, handlers, reactions, withInternalHandlers } from '@muster/operations';
import { allNodes } from '@muster/placement';
import { type ErrorBody, pathOf } from '@muster/contract';
import { withTestTimeouts, type People, type World, useWorld } from '@muster/testing';
import { pino } from 'pino';
import { type CoordinationApi, createApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';

/** A response, whatever its status. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body. A body that is not JSON fails the spec. */
  readonly body: Record<string, unknown> & Partial<ErrorBody>;
}

type Addresses = Awaited<ReturnType<CoordinationApi['service']['listen']>>;

/** A running API process, and functions that call it. */
export interface ApiInstance {
  /** Returns the base URL, such as `http://127.0.0.1:43210`. */
  url(): string;
  /** Sends any request. The body is sent as JSON unless it is text or bytes. */
  request(
    path: string,
    init?: { method?: string; token?: string | null; body?: unknown; headers?: Record<string, string> },
  ): Promise<RawAnswer>;
  /** Calls an operation by its own path with the given token. */
  call(
    token: string | null,
    operation: string,
    params?: unknown,
    headers?: Record<string, string>,
  ): Promise<RawAnswer>;
  client(token: string): Client;
  /** Returns the metrics in Prometheus format. */
  metrics(): Promise<string>;
}

export interface TestApi extends ApiInstance {
  readonly world: World<AllHandlers>;
  org(setUp?: Parameters<World<AllHandlers>['org']>[0]): Promise<People<AllHandlers>>;
  /** Starts another API on the same database. It runs until the spec file ends or it is stopped. */
  startReplica(environment?: Record<string, string>): Promise<ApiInstance & { stop(): Promise<void> }>;
}

/** Starts the API for the spec file that calls it. */
export function useApi(environment: Record<string, string> = {}): TestApi {
  const world = useWorld(withInternalHandlers(handlers), reactions);
  const running = new Set<CoordinationApi>();
  let base: Addresses = { address: '', metricsAddress: '' };

  const start = async (more: Record<string, string>) => {
    const config = readConfig({
      PORT: '0',
      HOST: '127.0.0.1',
      DATABASE_URL: world.database.url,
      ...more,
    });
    const one = createApp(config, pino({ level: 'silent' }));
    for (const node of allNodes(one.pool)) withTestTimeouts(node.pool);
    running.add(one);
    const at = await one.service.listen({ HOST: '127.0.0.1', PORT: 0, METRICS_PORT: 0 });
    return { at, stop: () => stop(one) };
  };
  const stop = async (one: CoordinationApi): Promise<void> => {
    if (!running.delete(one)) return;
    await one.service.stop();
    await one.close();
  };

  beforeAll(async () => {
    base = (await start(environment)).at;
  });
  afterAll(() => Promise.all([...running].map(stop)));

  return {
    ...instanceAt(() => base),
    world,
    org: (setUp) => world.org(setUp),
    startReplica: async (more = {}) => {
      const one = await start({ ...environment, ...more });
      return { ...instanceAt(() => one.at), stop: one.stop };
    },
  };
}

function instanceAt(at: () => Addresses): ApiInstance {
  const url = (): string => at().address;
  const request: ApiInstance['request'] = async (
    path,
    { method = 'POST', token = null, body, headers = {} } = {},
  ) => {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(new URL(path, url()), {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (text === '' ? {} : JSON.parse(text)) as RawAnswer['body'],
    };
  };

  return {
    url,
    request,
    call: (token, operation, params = {}, headers = {}) =>
      request(pathOf(operation), { token, body: params, headers }),
    metrics: async () => (await fetch(`${at().metricsAddress}/metrics`)).text(),
    client: (token) => createClient(httpTransport({ baseUrl: url(), token })),
  };
}
