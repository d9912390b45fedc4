/**
 * The way to coordination-api: one pool of kept connections for everybody, each call with its caller's own token. What
 * the caller's request carried for those who follow it through the logs goes along.
 */
import { errorBodyIn, errorOf, NoAnswer, type Transport } from '@muster/client';
import { pathOf } from '@muster/registry';
import { inSpan, traceHeaders } from '@muster/service';
import { Pool } from 'undici';

/** Whose call it is, as the API should see it. */
export interface Caller {
  readonly token: string;
  /** Passed on as they came; the API knows what to believe. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Api {
  /** One try of a call. */
  transport(caller: Caller): Transport;
  /** Whether it is there and ready. */
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}

export interface ApiOptions {
  readonly url: string;
  readonly connections: number;
}

/** The longest that the contract lets a call wait is 25 s. */
const answerMillis = 40_000;

export function createApi({ url, connections }: ApiOptions): Api {
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/$/, '');
  const pool = new Pool(origin, {
    connections,
    connectTimeout: 2_000,
    headersTimeout: answerMillis,
    bodyTimeout: answerMillis,
  });
  const ask = async (
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string,
  ): Promise<{ status: number; retryAfter: unknown; body: unknown }> => {
    try {
      return await inSpan(
        () => ({ name: `POST ${path}`, kind: 'client' }),
        async () => {
          const answer = await pool.request({
            ...{ path: `${prefix}${path}`, method: 'POST', body },
            headers: { ...headers, ...traceHeaders() },
          });
          return {
            status: answer.statusCode,
            retryAfter: answer.headers['retry-after'],
            body: JSON.parse(await answer.body.text()) as unknown,
          };
        },
      );
    } catch (cause) {
      throw new NoAnswer('no answer from the API', cause);
    }
  };
  return {
    transport:
      ({ token, headers }) =>
      async (operation, params, { idempotencyKey }) => {
        const sent = {
          ...headers,
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        };
        const { status, retryAfter, body } = await ask(pathOf(operation.name), sent, JSON.stringify(params));
        if (status === 200) return body;
        const error = errorBodyIn(body);
        if (error === undefined) throw new NoAnswer(`the API answered ${status}, not as it does`);
        const seconds = Number(retryAfter ?? NaN);
        throw errorOf(error, Number.isFinite(seconds) ? seconds : undefined);
      },
    isReady: async () => {
      const { statusCode, body } = await pool.request({ path: `${prefix}/readyz`, method: 'GET' });
      await body.dump();
      return statusCode === 200;
    },
    close: () => pool.close(),
  };
}
