/** The transport over HTTP. */
import { pathOf } from '@muster/registry/path';
import { type Transport } from './client.ts';
import { errorBodyIn, errorOf, NoAnswer } from './errors.ts';

export interface HttpOptions {
  /** Such as `http://127.0.0.1:4100`. */
  readonly baseUrl: string;
  /** Left out where the request carries who calls by itself, as a page's cookie does. */
  readonly token?: string | undefined;
  /** How long an answer is waited for; 60 s unless told, which is longer than the API needs for any. */
  readonly answerSeconds?: number;
  /** In place of the global one, for what a caller adds to each request or wants to see of each answer. */
  readonly fetch?: typeof fetch;
}

/**
 * Calls `POST {baseUrl}/api/<namespace>/<operation>`. Reads bring along where the server's log of writes stood at the answers
 * before, so that a standby of its database may answer them once it has come so far.
 */
export function httpTransport({
  baseUrl,
  token,
  answerSeconds = 60,
  fetch = globalThis.fetch,
}: HttpOptions): Transport {
  let position: string | null = null;
  return async (operation, params, { idempotencyKey }) => {
    const url = new URL(pathOf(operation.name), baseUrl);
    const { response, body } = await fetch(url, {
      method: 'POST',
      headers: {
        ...authorizationOf(token),
        'content-type': 'application/json',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...(operation.effect === 'read' && position !== null && { 'muster-position': position }),
      },
      body: JSON.stringify(params),
      signal: AbortSignal.timeout(answerSeconds * 1_000),
    })
      .then(async (answer) => ({ response: answer, body: await answer.json() }))
      .catch((cause: unknown) => {
        throw new NoAnswer(`no answer from ${url.origin}: ${reasonOf(cause)}`, cause);
      });
    position = laterOf(position, response.headers.get('muster-position'));
    if (response.ok) return body;
    const error = errorBodyIn(body);
    if (error === undefined)
      throw new NoAnswer(`${url.origin} answered ${response.status}, not as the API does`);
    throw errorOf(error, retryAfterOf(response));
  };
}

/** A position is two numbers of 32 bits each, in hexadecimal: `0/16B3748`. */
const numberOf = (position: string): bigint =>
  BigInt(
    `0x${position
      .split('/')
      .map((part) => part.padStart(8, '0'))
      .join('')}`,
  );

/** Answers come in another order than they were made in. */
const laterOf = (known: string | null, told: string | null): string | null =>
  known === null || (told !== null && numberOf(told) > numberOf(known)) ? told : known;

export const authorizationOf = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/** The cause of a fetch that failed says more than "fetch failed". */
export function reasonOf(cause: unknown): string {
  const error = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  return error instanceof Error ? error.message : String(error);
}

/** Whole seconds, as the API writes it. */
export function retryAfterOf({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}
