import { type Client, createClient, httpTransport, MusterError, type Transport } from '@muster/client';
import { type Operation } from '@muster/contract';
import { operations } from '@muster/registry';

/** A call and its answer. */
export interface JournaledCall {
  readonly requestId: string;
  readonly operation: Operation;
  /** Null if no answer came. */
  status: number | null;
  /** The reason of a refusal. */
  reason: string | null;
}

/** Records every call to the API and its answer, for the checks at the end. */
export class Journal {
  readonly calls: JournaledCall[] = [];
  readonly #baseUrl: string;
  readonly #prefix: string;

  constructor(baseUrl: string, prefix: string) {
    this.#baseUrl = baseUrl;
    this.#prefix = prefix;
  }

  /** Returns a client whose calls are recorded. */
  clientOf(token: string): Client {
    const transport: Transport = async (called, params, options) => {
      const operation = operations.get(called.name);
      if (operation === undefined) throw new Error(`the contract has no ${called.name}`);
      const requestId = `${this.#prefix}-${this.calls.length + 1}`;
      const call: JournaledCall = { requestId, operation, status: null, reason: null };
      this.calls.push(call);
      const recordedFetch: typeof fetch = async (url, init) => {
        const headers = new Headers(init?.headers);
        headers.set('x-request-id', requestId);
        const response = await fetch(url, { ...init, headers });
        call.status = response.status;
        return response;
      };
      try {
        const send = httpTransport({ baseUrl: this.#baseUrl, token, fetch: recordedFetch });
        return await send(called, params, options);
      } catch (error) {
        if (error instanceof MusterError) call.reason = error.reason ?? error.code;
        throw error;
      }
    };
    return createClient(transport);
  }
}
