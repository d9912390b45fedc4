import { type Client, createClient, httpTransport, MusterError, type Transport } from '@muster/client';
import { type Operation, operations, StorySummary } from '@muster/registry';
import { type z } from 'zod';

/** Who called: a member, or an agent of that member. */
export interface Caller {
  readonly name: string;
  readonly memberId: string;
  readonly agentId: string | null;
}

/** The part of a story by which a change is told. `rank` tells it from other records. */
const KnownStory = StorySummary.pick({ id: true, version: true, status: true, rank: true });
type KnownStory = z.infer<typeof KnownStory>;

/** A call and what became of it. Times are of this process's clock. */
export interface Call {
  readonly requestId: string;
  readonly caller: Caller;
  readonly operation: Operation;
  readonly params: Record<string, unknown>;
  /** Its Idempotency-Key: the tries of one call have one. */
  readonly key: string | null;
  readonly sentAt: number;
  answeredAt: number;
  /** The story that it names, as it was known when the call was sent. */
  readonly known: KnownStory | undefined;
  /** Null: no answer came. */
  status: number | null;
  /** Why not, where it was refused. */
  reason: string | null;
  /** It was the first answer to the key again. */
  replayed: boolean;
  /** Of a write that succeeded. */
  result: unknown;
}

/** Whether it only asks what a write would do: a preview, or a dry run. */
export const onlyAsks = ({ params }: Pick<Call, 'params'>): boolean =>
  params['preview'] === true || params['dryRun'] === true;

/** Everything that was asked of the API on the tour, and what it answered. The checks hold the API to it. */
export class Journal {
  readonly calls: Call[] = [];
  readonly #baseUrl: string;
  readonly #prefix: string;
  readonly #stories = new Map<string, KnownStory>();

  constructor(baseUrl: string, prefix: string) {
    this.#baseUrl = baseUrl;
    this.#prefix = prefix;
  }

  /** A client whose calls are written down. */
  clientOf(caller: Caller, token: string): Client {
    return createClient(this.#transport(caller, token));
  }

  /** The writes that were acknowledged and happened then, not before. */
  writes(): Call[] {
    return this.calls.filter(
      (call) => call.operation.effect === 'write' && call.status === 200 && !call.replayed && !onlyAsks(call),
    );
  }

  #transport(caller: Caller, token: string): Transport {
    return async (operation, params, options) => {
      const asked = params as Record<string, unknown>;
      const stated = operations.get(operation.name);
      if (stated === undefined) throw new Error(`the contract has no ${operation.name}`);
      const call: Call = {
        requestId: `${this.#prefix}-${this.calls.length + 1}`,
        caller,
        operation: stated,
        params: asked,
        key: options.idempotencyKey ?? null,
        sentAt: performance.now(),
        answeredAt: Infinity,
        known: typeof asked['storyId'] === 'string' ? this.#stories.get(asked['storyId']) : undefined,
        status: null,
        reason: null,
        replayed: false,
        result: undefined,
      };
      this.calls.push(call);
      const watchedFetch: typeof fetch = async (url, init) => {
        const headers = new Headers(init?.headers);
        headers.set('x-request-id', call.requestId);
        const response = await fetch(url, { ...init, headers });
        call.status = response.status;
        call.replayed = response.headers.get('idempotency-replayed') === 'true';
        return response;
      };
      try {
        const send = httpTransport({ baseUrl: this.#baseUrl, token, fetch: watchedFetch });
        const result = await send(operation, params, options);
        this.#learn(result);
        if (operation.effect === 'write') call.result = result;
        return result;
      } catch (error) {
        if (error instanceof MusterError) call.reason = error.reason ?? error.code;
        throw error;
      } finally {
        call.answeredAt = performance.now();
      }
    };
  }

  /** The newest that any answer showed of each story. */
  #learn(result: unknown): void {
    const { story, items = [] } = result as { story?: unknown; items?: unknown[] };
    for (const candidate of [story, ...items]) {
      const { data: found } = KnownStory.safeParse(candidate);
      if (found === undefined || found.version < (this.#stories.get(found.id)?.version ?? 0)) continue;
      this.#stories.set(found.id, found);
    }
  }
}
