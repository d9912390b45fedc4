/** The transport over HTTP. */
import { pathOf } from '@muster/contract/path';
import { type Transport } from './client.ts';
import { errorBodyIn, errorOf, NoAnswer } from './errors.ts';

export interface HttpOptions {
  /** The root URL of the server, such as `http://127.0.0.1:4100`. */
  readonly baseUrl: string;
  /**
   * The caller's token. Omit it if the request authenticates itself, for example with the cookie of a page.
   */
  readonly token?: string | undefined;
  /** The timeout for an answer in seconds. The default of 60 s is longer than the API needs for any call. */
  readonly answerSeconds?: number;
  /**
   * A replacement of the global `fetch`, for callers that add something to each request or inspect each
   * answer.
   */
  readonly fetch?: typeof fetch;
}

/**
 * Creates a transport that calls `POST {baseUrl}/api/<namespace>/<operation>`. Reads send the newest WAL
 * position (`muster-position`) of earlier answers. A standby database may answer them only after it has
 * replayed the log up to that position.
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
        ...authorizationHeader(token),
        'content-type': 'application/json',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...(operation.effect === 'read' && position !== null && { 'muster-position': position }),
      },
      body: JSON.stringify(params),
      signal: AbortSignal.timeout(answerSeconds * 1_000),
    })
      .then(async (answer) => ({ response: answer, body: await answer.json() }))
      .catch((cause: unknown) => {
        throw new NoAnswer(`no answer from ${url.origin}: ${failureMessageOf(cause)}`, cause);
      });
    position = laterPosition(position, response.headers.get('muster-position'));
    if (response.ok) return body;
    const error = errorBodyIn(body);
    if (error === undefined)
      throw new NoAnswer(`${url.origin} answered ${response.status} in an unexpected format`);
    throw errorOf(error, retryAfterSecondsOf(response));
  };
}

/** Parses a WAL position. It consists of two hexadecimal numbers of 32 bits each: `0/16B3748`. */
const parseWalPosition = (position: string): bigint =>
  BigInt(
    `0x${position
      .split('/')
      .map((part) => part.padStart(8, '0'))
      .join('')}`,
  );

/** Returns the later of two positions, because answers can arrive out of order. */
const laterPosition = (known: string | null, received: string | null): string | null =>
  known === null || (received !== null && parseWalPosition(received) > parseWalPosition(known))
    ? received
    : known;

export const authorizationHeader = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/** Returns the message of the underlying cause, because a failed fetch itself only says "fetch failed". */
export function failureMessageOf(cause: unknown): string {
  const error = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  return error instanceof Error ? error.message : String(error);
}

/**
 * Reads the delay in seconds from the header `Retry-After`. Returns undefined if the header is missing or
 * invalid.
 */
export function retryAfterSecondsOf({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}
