/**
 * Calls that would only wait for one another in Postgres wait here instead, in the order in which they came: so a board
 * that many agents ask for work at once costs the others no connection.
 */
export class Turns {
  readonly #atOnce: number;
  readonly #running = new Map<string, number>();
  readonly #queues = new Map<string, (() => void)[]>();

  /** @param atOnce how many of one key have their turn at once */
  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Whether it has its turn right now; where not, `wait` for it. */
  take(key: string): boolean {
    const running = this.#running.get(key) ?? 0;
    if (running >= this.#atOnce) return false;
    this.#running.set(key, running + 1);
    return true;
  }

  /** Resolves true with the turn, false where `left` was signalled before. */
  wait(key: string, left: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const queue = this.#queues.get(key) ?? [];
    this.#queues.set(key, queue);
    const leave = (): void => {
      queue.splice(queue.indexOf(called), 1);
      resolve(false);
    };
    const called = (): void => {
      left.removeEventListener('abort', leave);
      resolve(true);
    };
    queue.push(called);
    if (left.aborted) leave();
    else left.addEventListener('abort', leave, { once: true });
    return promise;
  }

  /** Gives the turn to who came next, or back. */
  leave(key: string): void {
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
