/** Calls as they went: what was answered and how soon, or that no answer came. Nothing is tried again. */
import { pathOf } from '@muster/registry';
import { Agent } from 'undici';
import { type Scope } from './services.ts';

/** An answer, or 0 and what went wrong where none came. */
export interface Heard {
  readonly status: number;
  readonly millis: number;
  readonly body: Record<string, unknown>;
  /** Of a 503 and a 429. */
  readonly retryAfter: string | null;
  /** The server ends the connection with it. */
  readonly closes: boolean;
}

export interface Callers {
  call(url: string, token: string, operation: string, params: object): Promise<Heard>;
  get(url: string, path: string): Promise<Heard>;
  /** The same by way of the gateway: its answer is JSON-RPC. */
  tool(gatewayUrl: string, token: string, name: string, params: object): Promise<Heard>;
}

/** Longer than any answer that still comes. */
const patienceMillis = 60_000;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Connections of their own, as many as there are calls at once. */
export function openCallers(scope: Scope): Callers {
  const agent = new Agent({ headersTimeout: patienceMillis, bodyTimeout: patienceMillis });
  scope.onStop(() => agent.destroy());
  const hear = async (url: string, init: { method: 'GET' | 'POST'; body?: string; token?: string }) => {
    const began = performance.now();
    const { method, body, token } = init;
    const { origin, pathname } = new URL(url);
    try {
      const answer = await agent.request({
        ...{ origin, path: pathname, method },
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        ...(body !== undefined && { body }),
      });
      const text = await answer.body.text();
      const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : { text };
      const { 'retry-after': retryAfter, connection } = answer.headers;
      return {
        status: answer.statusCode,
        millis: performance.now() - began,
        body: isRecord(parsed) ? parsed : {},
        retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
        closes: connection === 'close',
      };
    } catch (error) {
      return {
        ...{ status: 0, millis: performance.now() - began, retryAfter: null, closes: true },
        body: { message: String(error) },
      };
    }
  };
  return {
    call: (url, token, operation, params) =>
      hear(`${url}${pathOf(operation)}`, { method: 'POST', token, body: JSON.stringify(params) }),
    tool: (url, token, name, params) => {
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: params } };
      return hear(`${url}/api/mcp`, { method: 'POST', token, body: JSON.stringify(call) });
    },
    get: (url, path) => hear(`${url}${path}`, { method: 'GET' }),
  };
}

/** Why an answer is what it is, where it says so. */
export function reasonOf({ body }: Heard): string | undefined {
  const { details } = body;
  return isRecord(details) && typeof details['reason'] === 'string' ? details['reason'] : undefined;
}

/** The id of the record that an answer has by this name; throws where there is none. */
export function idIn(heard: Heard, name: string): string {
  const record = heard.body[name];
  if (isRecord(record) && typeof record['id'] === 'string') return record['id'];
  throw new Error(`there is no ${name}: ${inWords(heard)}`);
}

/** In a few words, for whoever reads a violation. */
export const inWords = (heard: Heard): string =>
  `${heard.status}: ${JSON.stringify(heard.body).slice(0, 300)}`;

/** 503 as the contract has it: come again, after so long. */
export const asksToComeAgain = ({ status, body, retryAfter }: Heard): boolean =>
  status === 503 && body['code'] === 'unavailable' && Number(retryAfter) >= 1;

/** Of so many values the one that this part of them does not exceed. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
