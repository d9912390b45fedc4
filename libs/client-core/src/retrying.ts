/** Retries of calls while the server, or the network to it, is unavailable. */
import { type Transport } from './client.ts';
import { MusterError, NoAnswer } from './errors.ts';

export interface RetryOptions {
  /** The total time in seconds to keep retrying before the last failure is thrown; 30 s by default. */
  readonly forSeconds?: number;
  /** Returns true while the total time does not run, for example while a browser is offline. */
  readonly isPaused?: () => boolean;
  /** Runs after each failed attempt that will be retried. */
  readonly onRetry?: (failure: MusterError | NoAnswer, pauseSeconds: number) => void;
}

const firstPauseSeconds = 0.1;
const maxPauseSeconds = 5;

/**
 * Retries a call while no answer comes or the server cannot answer now (429, 503). It uses exponential
 * backoff with full jitter and respects `Retry-After`. Every write has an Idempotency-Key, a new one if the
 * caller gave none. If an answer was lost after the write happened, the next attempt receives the stored
 * result.
 */
export function retrying(
  transport: Transport,
  { forSeconds = 30, isPaused = () => false, onRetry = () => undefined }: RetryOptions = {},
): Transport {
  return async (operation, params, options) => {
    const keyed =
      operation.effect === 'write'
        ? { ...options, idempotencyKey: options.idempotencyKey ?? newIdempotencyKey() }
        : options;
    let deadline = performance.now() + forSeconds * 1000;
    for (let tries = 0; ; tries += 1) {
      try {
        return await transport(operation, params, keyed);
      } catch (failure) {
        if (!isTemporaryFailure(failure)) throw failure;
        if (isPaused()) deadline = performance.now() + forSeconds * 1000;
        const pauseSeconds = retryPauseSeconds(tries + 1, failure);
        if (performance.now() + pauseSeconds * 1000 > deadline) throw failure;
        onRetry(failure, pauseSeconds);
        await new Promise((resolve) => setTimeout(resolve, pauseSeconds * 1000));
      }
    }
  };
}

/**
 * Returns true if the same call can be expected to succeed soon without changes. A story that is reserved for
 * another caller does not become available soon.
 */
export function isTemporaryFailure(failure: unknown): failure is MusterError | NoAnswer {
  if (failure instanceof NoAnswer) return true;
  return (
    failure instanceof MusterError &&
    (failure.status === 429 || failure.status === 503 || failure.reason === 'idempotency_in_flight')
  );
}

/**
 * Creates a unique key. Node 18 has no global `crypto`, and a page without TLS has no `randomUUID`. The key
 * is not a secret, so `Math.random` is sufficient there.
 */
function newIdempotencyKey(): string {
  const { crypto } = globalThis as { readonly crypto?: { readonly randomUUID?: () => string } };
  if (crypto?.randomUUID !== undefined) return crypto.randomUUID();
  return Array.from({ length: 4 }, () => Math.random().toString(36).slice(2, 10)).join('-');
}

/**
 * Returns the delay in seconds, with full jitter: clients that failed at the same time must not retry at the
 * same time.
 */
export function retryPauseSeconds(tries: number, failure: MusterError | NoAnswer): number {
  const most = Math.min(maxPauseSeconds, firstPauseSeconds * 2 ** tries);
  const asked = failure instanceof MusterError ? (failure.retryAfterSeconds ?? 0) : 0;
  return asked + most * Math.random();
}
