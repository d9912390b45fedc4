/**
 * The HTTP client for coordination-api. All callers share one pool of persistent connections, and each call
 * uses its caller's own token. Long polls have a second pool, so that they never delay other calls. Trace
 * headers of the caller's request are passed on.
 */
import { errorBodyIn, errorOf, followStream, NoAnswer, type Transport } from '@muster/client';
import { pathOf, serviceUnavailable } from '@muster/contract';
import { gatewayKeyHeader, inSpan, traceHeaders } from '@muster/http';
import { Pool } from 'undici';
import { type FollowActivity } from '../protocol/subscriptions.ts';
import { isLongPoll, type LongPollCaller, LongPollLimiter } from './waiting.ts';

/** The caller on whose behalf the API is called. */
export interface ApiCaller {
  readonly token: string;
  /** Headers that are passed on unchanged; the API decides which ones to trust. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts reads when the caller disconnects. Writes continue, because the caller may retry them. */
  readonly disconnectSignal?: AbortSignal;
  /** Called when a write was answered with the result of an earlier call. */
  readonly onReplay?: () => void;
  /**
   * True for a call over MCP. Only then does the API accept tokens that were granted for the MCP address alone.
   */
  readonly isMcp: boolean;
  /** The caller whose limit of concurrent long polls applies. The gateway's own calls never wait. */
  readonly longPollCaller?: LongPollCaller;
}

export interface Api {
  /** Returns a transport that makes a single attempt per call. */
  transport(caller: ApiCaller): Transport;
  /** Uploads the content of an attachment to the path of its signed address. */
  putFile(url: string, content: string): Promise<void>;
  /**
   * Follows the activity stream without a time limit. It reconnects after outages of the API from the id of
   * the last event.
   */
  followActivity(caller: Pick<ApiCaller, 'token' | 'headers' | 'isMcp'>): FollowActivity;
  /** Returns true if the API is reachable and ready. */
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}

export interface ApiOptions {
  readonly url: string;
  /**
   * Maximum number of connections for calls that are answered immediately. Long polls get the same number of
   * connections in addition.
   */
  readonly connections: number;
  /** The secret that proves to the API that a call comes through the gateway. */
  readonly key?: string | undefined;
}

interface ApiRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly method?: 'POST' | 'PUT';
  readonly body: string;
  readonly disconnectSignal?: AbortSignal | undefined;
}

/** Timeout for a response. The contract lets a call wait for at most 25 s. */
const responseTimeoutMillis = 40_000;

interface ApiResponse {
  readonly status: number;
  readonly retryAfter: unknown;
  readonly isReplay: boolean;
  readonly body: unknown;
}

const openPool = (origin: string, connections: number): Pool =>
  new Pool(origin, {
    connections,
    connectTimeout: 2_000,
    headersTimeout: responseTimeoutMillis,
    bodyTimeout: responseTimeoutMillis,
  });

/** Sends one request without retrying. Throws NoAnswer if no response arrives. */
async function sendRequest(
  pool: Pool,
  prefix: string,
  path: string,
  { headers, method = 'POST', body, disconnectSignal }: ApiRequest,
): Promise<ApiResponse> {
  try {
    return await inSpan(
      () => ({ name: `${method} ${path.split('?')[0] ?? ''}`, kind: 'client' }),
      async () => {
        const answer = await pool.request({
          ...{ path: `${prefix}${path}`, method, body, signal: disconnectSignal ?? null },
          headers: { ...headers, ...traceHeaders() },
        });
        return {
          status: answer.statusCode,
          retryAfter: answer.headers['retry-after'],
          isReplay: answer.headers['idempotency-replayed'] === 'true',
          body: JSON.parse(await answer.body.text()) as unknown,
        };
      },
    );
  } catch (cause) {
    // The caller has disconnected and gets no response; this error only prevents a retry.
    if (disconnectSignal?.aborted === true) throw serviceUnavailable('caller_left');
    throw new NoAnswer('no answer from the API', cause);
  }
}

/** Returns the result of an operation, or throws the API's error. */
function resultOrThrow({ status, retryAfter, body }: ApiResponse): unknown {
  if (status === 200) return body;
  const error = errorBodyIn(body);
  if (error === undefined) throw new NoAnswer(`the API answered ${status} in an unexpected format`);
  const seconds = Number(retryAfter ?? NaN);
  throw errorOf(error, Number.isFinite(seconds) ? seconds : undefined);
}

export function createApi({ url, connections, key }: ApiOptions): Api {
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/$/, '');
  const pool = openPool(origin, connections);
  const waitingPool = openPool(origin, connections);
  const waiting = new LongPollLimiter(connections);
  const keyHeader = (isMcp: boolean) => (key !== undefined && isMcp ? { [gatewayKeyHeader]: key } : {});
  return {
    transport:
      ({ token, headers, isMcp, disconnectSignal, longPollCaller, onReplay }) =>
      async (operation, params, { idempotencyKey }) => {
        const sent = {
          ...{ ...headers, ...keyHeader(isMcp) },
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        };
        const isWait = longPollCaller !== undefined && isLongPoll(params);
        const giveBack = isWait ? waiting.take(longPollCaller) : () => undefined;
        const answer = await sendRequest(isWait ? waitingPool : pool, prefix, pathOf(operation.name), {
          ...{ headers: sent, body: JSON.stringify(params) },
          // A write that waits has changed nothing. Without its caller it must not take anything later.
          ...((operation.effect === 'read' || isWait) && { disconnectSignal }),
        }).finally(giveBack);
        if (answer.isReplay) onReplay?.();
        return resultOrThrow(answer);
      },
    putFile: async (url, content) => {
      const { pathname, search } = new URL(url);
      // The API's own address may have another prefix than the one in the signed address.
      const path = pathname.slice(pathname.lastIndexOf('/files/')) + search;
      const headers = { 'content-type': 'application/octet-stream' };
      resultOrThrow(await sendRequest(pool, prefix, path, { method: 'PUT', headers, body: content }));
    },
    followActivity: ({ token, headers, isMcp }) => {
      const through = (...[input, init]: Parameters<typeof fetch>) => {
        const { pathname: at, search } = new URL(input);
        const sent = {
          ...{ ...headers, ...keyHeader(isMcp) },
          ...{ ...(init?.headers as Record<string, string>), ...traceHeaders() },
        };
        return fetch(`${origin}${prefix}${at}${search}`, { ...init, headers: sent });
      };
      return (options) =>
        followStream({
          ...options,
          ...{ baseUrl: origin, token, fetch: through, personal: false, forSeconds: Infinity },
        });
    },
    isReady: async () => {
      const { statusCode, body } = await pool.request({ path: `${prefix}/readyz`, method: 'GET' });
      await body.dump();
      return statusCode === 200;
    },
    close: async () => {
      await Promise.all([pool.close(), waitingPool.close()]);
    },
  };
}
