/** Which place each request has among those that are answered at once: it enters, begins, waits aside and leaves. */
import { type ApiError, unavailable } from '@muster/registry';
import { type FastifyRequest } from 'fastify';
import { Places, type Saturation } from './places.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Among those answered at once, for the first time or after it waited for something; null: not, or not any more. */
    place: 'waiting' | 'working' | 'returned' | null;
  }
  interface FastifyContextConfig {
    /** There are as many places again for such requests alone. */
    isUrgent?: boolean;
  }
}

export class RequestPlaces {
  readonly #places: Places;
  #waiting = 0;

  constructor(mostInFlight: number) {
    this.#places = new Places(mostInFlight);
  }

  /** What it is refused with where there is no place for it. */
  enter(request: FastifyRequest): ApiError | undefined {
    if (!this.#places.take(request.routeOptions.config.isUrgent === true))
      return unavailable('overload', 'Too many requests at once; try again.');
    request.place = 'waiting';
    return undefined;
  }

  /** All of it is here: one that gave up its place while its body came takes another. */
  begin(request: FastifyRequest): ApiError | undefined {
    const refused = request.place === null ? this.enter(request) : undefined;
    if (request.place === 'waiting') request.place = 'working';
    return refused;
  }

  leave(request: FastifyRequest): void {
    if (request.place === null) return;
    const cameBack = request.place === 'returned';
    request.place = null;
    this.#places.leave(cameBack);
  }

  /** As `Service.aside`. */
  async aside(request: FastifyRequest, wait: (left: AbortSignal) => Promise<void>): Promise<void> {
    const left = new AbortController();
    const leaving = (): void => {
      left.abort();
    };
    const { socket } = request.raw;
    socket.once('close', leaving);
    this.leave(request);
    this.#waiting += 1;
    try {
      await wait(left.signal);
    } finally {
      this.#waiting -= 1;
      socket.off('close', leaving);
    }
    await this.#places.comeBack();
    request.place = 'returned';
  }

  saturation(): Saturation {
    return this.#places.saturation();
  }

  levels(): { readonly inFlight: number; readonly waiting: number } {
    return { inFlight: this.#places.taken, waiting: this.#waiting };
  }
}
