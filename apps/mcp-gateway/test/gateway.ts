/**
 * Starts the gateway in front of a coordination-api in a separate process, because an app and its specs never
 * import another app. The spec has its own database, and members are created as in other specs.
 */
import { afterAll, beforeAll } from '@jest/globals';
import { type Client, createClient, httpTransport } from '@muster/client';
import { type ErrorBody } from '@muster/contract';
import { type AppProcess, findFreePort, startApp, useWorld, type World } from '@muster/testing';
import { pino } from 'pino';
import { createGateway, type Gateway } from '../src/app.ts';
import { readConfig } from '../src/config.ts';

/** A JSON-RPC response over HTTP. */
export interface RpcAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: {
    readonly id?: unknown;
    readonly result?: Record<string, unknown>;
    readonly error?: {
      readonly code: number;
      readonly message: string;
      readonly data?: Record<string, unknown>;
    };
  } & Partial<ErrorBody>;
}

/** The result of a tool call. */
export interface ToolAnswer {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent: Record<string, unknown> & {
    readonly error?: ErrorBody & { readonly hint: string };
  };
}

export interface RpcOptions {
  readonly query?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
  readonly id?: number | string;
  readonly meta?: Record<string, unknown>;
}

export interface TestGateway {
  readonly world: World;
  url(): string;
  apiUrl(): string;
  /** Creates a typed client for the API itself, to check the stored data. */
  apiClient(token: string): Client;
  /** Sends any request to the endpoint. */
  send(init: RequestInit & { readonly query?: string }): Promise<RpcAnswer>;
  /** Sends a request of a legacy revision, without an envelope. */
  rpc(token: string, method: string, params?: object, options?: RpcOptions): Promise<RpcAnswer>;
  /** Sends a request of the 2026-07-28 revision, with the required headers and envelope. */
  modern(token: string, method: string, params?: object, options?: RpcOptions): Promise<RpcAnswer>;
  tool(token: string, name: string, args?: object, options?: RpcOptions): Promise<ToolAnswer>;
  /** Stops the API while `work` runs, then restarts it at the same address. */
  whileApiIsAway<Result>(work: () => Promise<Result>): Promise<Result>;
  /**
   * Sends a write to a story and disconnects while the API waits for the story's row lock. On return, the
   * write has committed and its response was lost.
   */
  disconnectDuring(storyId: string, send: (signal: AbortSignal) => Promise<unknown>): Promise<void>;
  /** Stops the gateway while `work` runs, then restarts it. */
  whileGatewayIsAway(work: () => Promise<void>): Promise<void>;
}

/** Returns the base version with which a model overwrites a spec; empty for other operations. */
export async function specRead(
  gateway: TestGateway,
  operation: string,
  token: string,
): Promise<{ readonly baseVersion?: number }> {
  if (operation !== 'storySpec.update') return {};
  const { spec } = await gateway.apiClient(token).storySpec.get({ storyId: 'WEB-1' });
  return { baseVersion: spec.version };
}

/** Creates an organization with the story WEB-1. Returns its people, and a client of the owner for the API itself. */
export async function createBoard(gateway: TestGateway) {
  const people = await gateway.world.org();
  const api = gateway.apiClient(people.ana.me.token);
  await api.projects.create({ key: 'WEB', name: 'Web' });
  const { story } = await api.stories.create({ projectId: 'WEB', title: 'First', status: 'ready' });
  return { ...people, api, story };
}

/** Starts both services for the spec file that calls it. */
export function useGateway(
  environment: Record<string, string> = {},
  ofApi: Record<string, string> = {},
): TestGateway {
  const world = useWorld({});
  let api: AppProcess | undefined;
  let gateway: Gateway | undefined;
  let base = '';
  let gatewayPort = 0;
  let ids = 0;

  const apiUrl = (): string => api?.url ?? '';
  const startItsApi = (more: Record<string, string> = {}): Promise<AppProcess> =>
    startApp('apps/coordination-api/src/main.ts', {
      DATABASE_URL: world.database.url,
      TRUST_PROXY: '127.0.0.1',
      // The API is configured with the gateway's address before the gateway starts.
      MCP_GATEWAY_URL: `http://127.0.0.1:${gatewayPort}`,
      ...ofApi,
      ...more,
    });
  const startGateway = async (): Promise<void> => {
    const config = readConfig({ HOST: '127.0.0.1', COORDINATION_API_URL: apiUrl(), ...environment });
    gateway = await createGateway(config, pino({ level: 'error' }));
    base = await gateway.httpService.app.listen({ host: '127.0.0.1', port: gatewayPort });
  };
  const stopGateway = async (): Promise<void> => {
    await gateway?.httpService.stop();
    await gateway?.close();
  };

  beforeAll(async () => {
    gatewayPort = await findFreePort();
    api = await startItsApi();
    await startGateway();
  });
  afterAll(async () => {
    await stopGateway();
    await api?.stop();
  });

  const send: TestGateway['send'] = async ({ query = '', ...init }) => {
    const response = await fetch(`${base}/api/mcp${query}`, { method: 'POST', ...init });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (text === '' ? {} : JSON.parse(text)) as RpcAnswer['body'],
    };
  };
  const rpc: TestGateway['rpc'] = (token, method, params = {}, { query, headers, signal, id, meta } = {}) =>
    send({
      ...(query !== undefined && { query }),
      ...(signal !== undefined && { signal }),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: id ?? (ids += 1), method },
        params: { ...params, ...(meta !== undefined && { _meta: meta }) },
      }),
    });

  return {
    world,
    url: () => `${base}/api/mcp`,
    apiUrl,
    apiClient: (token) => createClient(httpTransport({ baseUrl: apiUrl(), token })),
    send,
    rpc,
    modern: (token, method, params = {}, options = {}) => {
      const { name, uri, taskId } = params as { name?: string; uri?: string; taskId?: string };
      const named = name ?? uri ?? taskId;
      return rpc(token, method, params, {
        ...options,
        meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'spec', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
          ...options.meta,
        },
        headers: {
          ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
          ...(named !== undefined && { 'mcp-name': named }),
          ...options.headers,
        },
      });
    },
    tool: async (token, name, args = {}, options = {}) => {
      const { body, text } = await rpc(token, 'tools/call', { name, arguments: args }, options);
      if (body.result === undefined) throw new Error(`${name} has no result: ${text}`);
      return body.result as unknown as ToolAnswer;
    },
    whileApiIsAway: async (work) => {
      if (api === undefined) throw new Error('the API is there from beforeAll on');
      const { port } = new URL(api.url);
      await api.stop();
      const result = work();
      api = await startItsApi({ PORT: port });
      return result;
    },
    disconnectDuring: async (storyId, sendIt) => {
      const holder = await world.database.owner.connect();
      try {
        await holder.query('begin');
        await holder.query('select from stories where id = $1 for update', [storyId]);
        // Wait until the gateway notices the disconnect. A proxy between the client and the gateway may delay
        // the disconnect.
        const left = new Promise<void>((resolve) => {
          gateway?.httpService.app.server.once('request', (_request, response) =>
            response.once('close', resolve),
          );
        });
        const cut = new AbortController();
        const outcome = sendIt(cut.signal).then(
          () => 'answered',
          () => 'cut',
        );
        await world.waitUntilBlocked(1);
        cut.abort();
        if ((await outcome) !== 'cut') throw new Error('the write did not wait for the row');
        await left;
        await holder.query('rollback');
      } finally {
        holder.release();
      }
    },
    whileGatewayIsAway: async (work) => {
      await stopGateway();
      await work();
      await startGateway();
    },
  };
}
