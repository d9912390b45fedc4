/**
 * Manages the request slot of each request. A request enters, begins its work, may wait without a slot, and
 * leaves.
 */
import { type ApiError, serviceUnavailable } from '@muster/contract';
import { type FastifyRequest } from 'fastify';
import { RequestSlots, type Saturation } from './places.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The state of the request's slot: new, being answered, or returned after waiting. Null means that the
     * request has no slot.
     */
    place: 'waiting' | 'working' | 'returned' | null;
  }
  interface FastifyContextConfig {
    /** True for requests that may use the additional request slots for urgent requests. */
    isUrgent?: boolean;
  }
}

export class RequestSlotTracker {
  readonly #places: RequestSlots;
  #waiting = 0;

  constructor(maxInFlight: number) {
    this.#places = new RequestSlots(maxInFlight);
  }

  /** Takes a request slot for the request. Returns the refusal if no slot is free. */
  takeSlot(request: FastifyRequest): ApiError | undefined {
    if (!this.#places.take(request.routeOptions.config.isUrgent === true))
      return serviceUnavailable('overload', 'The server has too many requests in progress; try again.');
    request.place = 'waiting';
    return undefined;
  }

  /**
   * Marks the request as complete. A request that gave up its slot while its body arrived takes another one.
   */
  startWork(request: FastifyRequest): ApiError | undefined {
    const refused = request.place === null ? this.takeSlot(request) : undefined;
    if (request.place === 'waiting') request.place = 'working';
    return refused;
  }

  releaseSlot(request: FastifyRequest): void {
    if (request.place === null) return;
    const cameBack = request.place === 'returned';
    request.place = null;
    this.#places.release(cameBack);
  }

  /** Lets a request wait without a request slot, as `Service.waitWithoutSlot` describes. */
  async waitWithoutSlot<Result>(
    request: FastifyRequest,
    wait: (left: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const left = new AbortController();
    const leaving = (): void => {
      left.abort();
    };
    const { socket } = request.raw;
    socket.once('close', leaving);
    this.releaseSlot(request);
    this.#waiting += 1;
    const result = await wait(left.signal).finally(() => {
      this.#waiting -= 1;
      socket.off('close', leaving);
    });
    await this.#places.waitForSlot();
    request.place = 'returned';
    return result;
  }

  saturation(): Saturation {
    return this.#places.saturation();
  }

  levels(): { readonly inFlight: number; readonly waiting: number } {
    return { inFlight: this.#places.taken, waiting: this.#waiting };
  }
}
