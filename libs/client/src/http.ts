/** The transport over HTTP. */
import { ErrorBody } from '@muster/registry';
import { MusterError, type Transport } from './client.ts';

export interface HttpOptions {
  /** Such as `http://127.0.0.1:4100`. */
  readonly baseUrl: string;
  readonly token: string;
  /** In place of the global one, for what a caller adds to each request or wants to see of each answer. */
  readonly fetch?: typeof fetch;
}

/** An operation's path is its name with slashes. */
export const pathOf = (operationName: string): string => `/api/${operationName.replaceAll('.', '/')}`;

/** Calls `POST {baseUrl}/api/<namespace>/<operation>`. */
export function httpTransport({ baseUrl, token, fetch = globalThis.fetch }: HttpOptions): Transport {
  return async (operation, params, { idempotencyKey }) => {
    const response = await fetch(new URL(pathOf(operation.name), baseUrl), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify(params),
    });
    const body: unknown = await response.json();
    if (response.ok) return body;
    throw new MusterError(ErrorBody.parse(body));
  };
}
