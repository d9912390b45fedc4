/** The transport over HTTP. */
import { pathOf } from '@muster/registry/path';
import { type Transport } from './client.ts';
import { errorBodyIn, errorOf, NoAnswer } from './errors.ts';

export interface HttpOptions {
  /** Such as `http://127.0.0.1:4100`. */
  readonly baseUrl: string;
  /** Left out where the request carries who calls by itself, as a page's cookie does. */
  readonly token?: string | undefined;
  /** In place of the global one, for what a caller adds to each request or wants to see of each answer. */
  readonly fetch?: typeof fetch;
}

/** Calls `POST {baseUrl}/api/<namespace>/<operation>`. */
export function httpTransport({ baseUrl, token, fetch = globalThis.fetch }: HttpOptions): Transport {
  return async (operation, params, { idempotencyKey }) => {
    const url = new URL(pathOf(operation.name), baseUrl);
    const { response, body } = await fetch(url, {
      method: 'POST',
      headers: {
        ...authorizationOf(token),
        'content-type': 'application/json',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify(params),
    })
      .then(async (answer) => ({ response: answer, body: await answer.json() }))
      .catch((cause: unknown) => {
        throw new NoAnswer(`no answer from ${url.origin}: ${reasonOf(cause)}`, cause);
      });
    if (response.ok) return body;
    const error = errorBodyIn(body);
    if (error === undefined)
      throw new NoAnswer(`${url.origin} answered ${response.status}, not as the API does`);
    throw errorOf(error, retryAfterOf(response));
  };
}

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
