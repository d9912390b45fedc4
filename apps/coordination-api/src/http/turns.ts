/**
 * Queues calls that would otherwise block each other in Postgres, in order of arrival. If many agents request
 * work from the same board at once, they take no connections from other callers.
 */
export class TurnQueues {
  readonly #atOnce: number;
  readonly #running = new Map<string, number>();
  readonly #queues = new Map<string, (() => void)[]>();

  /** @param maxConcurrent maximum number of concurrent turns per key */
  constructor(maxConcurrent: number) {
    this.#atOnce = maxConcurrent;
  }

  /**
   * Takes a turn for the key and returns true. Returns false if all turns of the key are taken; then call
   * `wait`.
   */
  tryTake(key: string): boolean {
    const running = this.#running.get(key) ?? 0;
    if (running >= this.#atOnce) return false;
    this.#running.set(key, running + 1);
    return true;
  }

  /** Waits for a turn. Resolves to true with the turn, or to false if `left` aborts first. */
  wait(key: string, disconnected: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const queue = this.#queues.get(key) ?? [];
    this.#queues.set(key, queue);
    const leave = (): void => {
      queue.splice(queue.indexOf(called), 1);
      resolve(false);
    };
    const called = (): void => {
      disconnected.removeEventListener('abort', leave);
      resolve(true);
    };
    queue.push(called);
    if (disconnected.aborted) leave();
    else disconnected.addEventListener('abort', leave, { once: true });
    return promise;
  }

  /** Passes the turn to the next caller in the queue, or releases it. */
  release(key: string): void {
    const next = this.#queues.get(key)?.shift();
    if (next !== undefined) {
      next();
      return;
    }
    this.#queues.delete(key);
    const running = (this.#running.get(key) ?? 0) - 1;
    if (running > 0) this.#running.set(key, running);
    else this.#running.delete(key);
  }
}
