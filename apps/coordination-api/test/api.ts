/** The API as it ships, listening on a free port, on a database of its own; people with tokens reach it over HTTP. */
import { afterAll, beforeAll } from '@jest/globals';
import { type Client, createClient, httpTransport } from '@muster/client';
import { type ErrorBody } from '@muster/registry';
import { type People, type World, useWorld } from '@muster/testing';
import { pino } from 'pino';
import { type CoordinationApi, createApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { handlers, performable, reactions } from '../src/handlers.ts';

/** An answer as it came, nothing thrown. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; a body that is no JSON fails the spec. */
  readonly body: Record<string, unknown> & Partial<ErrorBody>;
}

export interface Api {
  readonly world: World;
  /** Such as `http://127.0.0.1:43210`. */
  url(): string;
  /** Any request; `body` goes out as JSON unless it is text or bytes. */
  request(
    path: string,
    init?: { method?: string; token?: string | null; body?: unknown; headers?: Record<string, string> },
  ): Promise<RawAnswer>;
  /** An operation by its own path, with somebody's token. */
  call(
    token: string | null,
    operation: string,
    params?: unknown,
    headers?: Record<string, string>,
  ): Promise<RawAnswer>;
  client(token: string): Client;
  org(setUp?: Parameters<World['org']>[0]): Promise<People>;
}

/** Starts the API for the spec file that calls it. */
export function useApi(environment: Record<string, string> = {}): Api {
  const world = useWorld(Object.fromEntries(performable(handlers)), reactions);
  let running: CoordinationApi | undefined;
  let base = '';

  beforeAll(async () => {
    const config = readConfig({
      PORT: '0',
      HOST: '127.0.0.1',
      DATABASE_URL: world.database.url,
      ...environment,
    });
    running = createApp(config, pino({ level: 'silent' }));
    base = await running.service.app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    await running?.service.stop();
    await running?.close();
  });

  const request: Api['request'] = async (
    path,
    { method = 'POST', token = null, body, headers = {} } = {},
  ) => {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(new URL(path, base), {
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
    world,
    url: () => base,
    request,
    call: (token, operation, params = {}, headers = {}) =>
      request(`/api/${operation.replaceAll('.', '/')}`, { token, body: params, headers }),
    client: (token) => createClient(httpTransport({ baseUrl: base, token })),
    org: (setUp) => world.org(setUp),
  };
}
