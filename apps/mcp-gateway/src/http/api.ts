/**
 * The way to coordination-api: one pool of kept connections for all callers, each call with its caller's own token, and
 * another for calls that wait, so that no call waits for those. What the caller's request carried for operators who
 * follow it through the logs goes along.
 */
import { errorBodyIn, errorOf, followStream, NoAnswer, type Transport } from '@muster/client';
import { pathOf, unavailable } from '@muster/registry';
import { gatewayKeyHeader, inSpan, traceHeaders } from '@muster/http';
import { Pool } from 'undici';
import { type Follow } from '../protocol/subscriptions.ts';
import { asksToWait, type Waiter, Waiting } from './waiting.ts';

/** Whose call it is, as the API should see it. */
export interface Caller {
  readonly token: string;
  /** Passed on as they came; the API knows what to believe. */
  readonly headers: Readonly<Record<string, string>>;
  /** Ends what is only read when the caller leaves; what is written goes on, since it may come again. */
  readonly left?: AbortSignal;
  /** Told when a write was answered by what an earlier one had done. */
  readonly onReplay?: () => void;
  /** As whom it may wait; the gateway's own questions never do. */
  readonly waiter?: Waiter;
}

export interface Api {
  /** One try of a call. */
  transport(caller: Caller): Transport;
  /** The activity as a stream, for as long as it takes: through outages of the API, by the id of the last event. */
  follow(caller: Pick<Caller, 'token' | 'headers'>): Follow;
  /** Whether it is there and ready. */
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}

export interface ApiOptions {
  readonly url: string;
  /** For calls that are answered at once, and as many again for those that wait. */
  readonly connections: number;
  /** Proves to the API that a call comes through the gateway. */
  readonly key?: string | undefined;
}

interface Question {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly left?: AbortSignal | undefined;
}

/** The longest that the contract lets a call wait is 25 s. */
const answerMillis = 40_000;

interface Answer {
  readonly status: number;
  readonly retryAfter: unknown;
  readonly isReplay: boolean;
  readonly body: unknown;
}

const openPool = (origin: string, connections: number): Pool =>
  new Pool(origin, {
    connections,
    connectTimeout: 2_000,
    headersTimeout: answerMillis,
    bodyTimeout: answerMillis,
  });

/** Sends a question once. Throws NoAnswer where no answer comes. */
async function ask(
  pool: Pool,
  prefix: string,
  path: string,
  { headers, body, left }: Question,
): Promise<Answer> {
  try {
    return await inSpan(
      () => ({ name: `POST ${path}`, kind: 'client' }),
      async () => {
        const answer = await pool.request({
          ...{ path: `${prefix}${path}`, method: 'POST', body, signal: left ?? null },
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
    // The caller left and hears no answer; the call only must not be tried again.
    if (left?.aborted === true) throw unavailable('caller_left');
    throw new NoAnswer('no answer from the API', cause);
  }
}

/** The result of an operation; throws what the API refused. */
function resultIn({ status, retryAfter, body }: Answer): unknown {
  if (status === 200) return body;
  const error = errorBodyIn(body);
  if (error === undefined) throw new NoAnswer(`the API answered ${status}, not as it does`);
  const seconds = Number(retryAfter ?? NaN);
  throw errorOf(error, Number.isFinite(seconds) ? seconds : undefined);
}

export function createApi({ url, connections, key }: ApiOptions): Api {
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/$/, '');
  const pool = openPool(origin, connections);
  const waitingPool = openPool(origin, connections);
  const waiting = new Waiting(connections);
  const own = key === undefined ? {} : { [gatewayKeyHeader]: key };
  return {
    transport:
      ({ token, headers, left, waiter, onReplay }) =>
      async (operation, params, { idempotencyKey }) => {
        const sent = {
          ...{ ...headers, ...own },
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        };
        const isWait = waiter !== undefined && asksToWait(params);
        const giveBack = isWait ? waiting.take(waiter) : () => undefined;
        const answer = await ask(isWait ? waitingPool : pool, prefix, pathOf(operation.name), {
          ...{ headers: sent, body: JSON.stringify(params) },
          ...(operation.effect === 'read' && { left }),
        }).finally(giveBack);
        if (answer.isReplay) onReplay?.();
        return resultIn(answer);
      },
    follow: ({ token, headers }) => {
      const through = (...[input, init]: Parameters<typeof fetch>) => {
        const { pathname: at, search } = new URL(input);
        const sent = { ...headers, ...own, ...(init?.headers as Record<string, string>), ...traceHeaders() };
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
