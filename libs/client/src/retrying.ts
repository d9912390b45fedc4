/** Trying again: what a client does when a server, or the way to it, is away for a while. */
import { type Transport } from './client.ts';
import { MusterError, NoAnswer } from './errors.ts';

export interface RetryOptions {
  /** How long to go on trying before the last failure is thrown; 30 s unless told. */
  readonly forSeconds?: number;
  /** Told of each failure that is followed by another try. */
  readonly onRetry?: (failure: MusterError | NoAnswer, pauseSeconds: number) => void;
}

const firstPauseSeconds = 0.1;
const longestPauseSeconds = 5;

/**
 * Tries a call again while no answer comes or the server says that it cannot answer now (429, 503), with growing pauses
 * of random length, never sooner than `Retry-After` says. Every write goes with an Idempotency-Key, its own where the
 * caller gave none: a try whose answer was lost happened once all the same, and the next one hears what came of it.
 */
export function retrying(
  transport: Transport,
  { forSeconds = 30, onRetry = () => undefined }: RetryOptions = {},
): Transport {
  return async (operation, params, options) => {
    const keyed =
      operation.effect === 'write'
        ? { ...options, idempotencyKey: options.idempotencyKey ?? newKey() }
        : options;
    const deadline = performance.now() + forSeconds * 1000;
    for (let tries = 0; ; tries += 1) {
      try {
        return await transport(operation, params, keyed);
      } catch (failure) {
        if (!isPassing(failure)) throw failure;
        const pauseSeconds = pauseBefore(tries + 1, failure);
        if (performance.now() + pauseSeconds * 1000 > deadline) throw failure;
        onRetry(failure, pauseSeconds);
        await new Promise((resolve) => setTimeout(resolve, pauseSeconds * 1000));
      }
    }
  };
}

/** Whether the same call, unchanged, can be expected to succeed soon. An offer that is reserved for others is not soon. */
export function isPassing(failure: unknown): failure is MusterError | NoAnswer {
  if (failure instanceof NoAnswer) return true;
  return (
    failure instanceof MusterError &&
    (failure.status === 429 || failure.status === 503 || failure.reason === 'idempotency_in_flight')
  );
}

/**
 * A key like no other. Node 18 has no global `crypto`, and a page without TLS no `randomUUID`; it is no secret, so
 * there what is merely random does.
 */
function newKey(): string {
  const { crypto } = globalThis as { readonly crypto?: { readonly randomUUID?: () => string } };
  if (crypto?.randomUUID !== undefined) return crypto.randomUUID();
  return Array.from({ length: 4 }, () => Math.random().toString(36).slice(2, 10)).join('-');
}

/** Full jitter: many clients that failed at once do not come back at once. */
export function pauseBefore(tries: number, failure: MusterError | NoAnswer): number {
  const most = Math.min(longestPauseSeconds, firstPauseSeconds * 2 ** tries);
  const asked = failure instanceof MusterError ? (failure.retryAfterSeconds ?? 0) : 0;
  return asked + most * Math.random();
}
