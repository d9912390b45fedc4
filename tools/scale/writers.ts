/** People who write all the while, each with keys, as programs do that may not do anything twice. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

export interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly isRetryable: boolean;
}

export interface Written {
  /** Ids of what was accepted, by operation. */
  readonly accepted: ReadonlyMap<string, readonly string[]>;
  readonly refusals: readonly Refusal[];
  /** Writes that were repeated under their key after no answer came. */
  readonly unanswered: number;
  /** The longest time between two writes that were accepted of one writer. */
  readonly longestGapMillis: number;
  /** The longest that one call took, with all its repetitions. */
  readonly longestCallMillis: number;
}

export interface Call {
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The id in what it answers. */
  readonly idOf: (answer: Record<string, { readonly id: string }>) => string | undefined;
}

interface WriterOptions {
  readonly url: string;
  readonly token: string;
  /** What this writer does next. */
  readonly next: (lastId: string | undefined) => Call;
  /** Waits between two writes: so many writers are not to be all that the machine does. */
  readonly restMillis?: () => number;
}

export const shortRestMillis = 5;
const repeatsAfterMillis = 50;

export interface Writer {
  readonly stop: () => Promise<Written>;
  /** How many writes were accepted by now. */
  readonly count: () => number;
}

export function startWriter({ url, token, next, restMillis = () => shortRestMillis }: WriterOptions): Writer {
  const accepted = new Map<string, string[]>();
  const refusals: Refusal[] = [];
  let [unanswered, longestGapMillis, longestCallMillis, count] = [0, 0, 0, 0];
  let isOver = false;

  /** Asks under one key until it is accepted. */
  const write = async ({ operation, params, idOf }: Call): Promise<string | undefined> => {
    const key = randomUUID();
    for (;;) {
      let response: Response;
      try {
        response = await fetch(`${url}/api/${operation.replaceAll('.', '/')}`, {
          method: 'POST',
          headers: {
            ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            'idempotency-key': key,
          },
          body: JSON.stringify(params),
        });
      } catch {
        unanswered += 1;
        await pause(repeatsAfterMillis);
        continue;
      }
      const body = (await response.json()) as Record<string, { id: string }> & {
        details?: { reason: string; retryable: boolean };
      };
      if (response.ok) {
        const id = idOf(body);
        if (id !== undefined) accepted.set(operation, [...(accepted.get(operation) ?? []), id]);
        return id;
      }
      const { reason = '', retryable = false } = body.details ?? {};
      refusals.push({ status: response.status, reason, isRetryable: retryable });
      if (!retryable) throw new Error(`${operation} was refused: ${response.status} ${reason}`);
      await pause(repeatsAfterMillis);
    }
  };

  const run = async (): Promise<void> => {
    let last = performance.now();
    let lastId: string | undefined;
    while (!isOver) {
      const began = performance.now();
      lastId = await write(next(lastId));
      count += 1;
      const now = performance.now();
      longestCallMillis = Math.max(longestCallMillis, now - began);
      longestGapMillis = Math.max(longestGapMillis, now - last);
      last = now;
      await pause(restMillis());
    }
  };
  const running = run();
  // Heard when it is stopped.
  running.catch(() => undefined);
  return {
    count: () => count,
    stop: async () => {
      isOver = true;
      await running;
      return { accepted, refusals, unanswered, longestGapMillis, longestCallMillis };
    },
  };
}
