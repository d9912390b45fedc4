/**
 * Limits the requests that are answered at the same time. A request takes a slot or is refused. A request
 * that returns after waiting queues for a slot, so that an event that wakes hundreds of them does not
 * displace new callers.
 */

/**
 * The fraction of all slots that returning requests may take. A process has six slots for each Postgres
 * connection, so returning requests may take one slot per connection.
 */
const returningFraction = 1 / 6;
/**
 * The time within which two refusals belong to the same overload, in milliseconds. Refused callers retry
 * after a second.
 */
const overloadGapMillis = 2_000;
const minOverloadMillis = 5_000;

export type Saturation =
  /** There were no refusals, or only for a short period. */
  | 'none'
  /** Callers have been refused for a while, and others are being answered. */
  | 'lasting'
  /** All slots have been taken for a while, and none was released. */
  | 'stuck';

export class RequestSlots {
  readonly #most: number;
  readonly #mostReturned: number;
  readonly #clock: () => number;
  readonly #queue: (() => void)[] = [];
  #taken = 0;
  #returned = 0;
  #freedAt: number;
  #refusedFrom = -Infinity;
  #refusedAt = -Infinity;

  constructor(maxSlots: number, clock: () => number = () => performance.now()) {
    this.#most = maxSlots;
    this.#mostReturned = Math.max(Math.floor(maxSlots * returningFraction), 1);
    this.#clock = clock;
    this.#freedAt = clock();
  }

  get taken(): number {
    return this.#taken;
  }

  /**
   * Takes a slot and returns true, or returns false if no slot is free. Urgent requests may use twice as many
   * slots. Requests that go on after they gave up their slot to wait do not count here, so they
   * take no slot from new requests.
   */
  take(isUrgent: boolean): boolean {
    // guard: places for what is urgent
    const most = isUrgent ? this.#most * 2 : this.#most;
    // guard: who came back takes no place
    const taken = this.#taken - this.#returned;
    if (taken < most) {
      this.#add();
      return true;
    }
    const now = this.#clock();
    if (now - this.#refusedAt > overloadGapMillis) this.#refusedFrom = now;
    this.#refusedAt = now;
    return false;
  }

  /** Queues a request that returns after waiting. Resolves when the request has got a slot. */
  waitForSlot(): Promise<void> {
    return new Promise((resolve) => {
      this.#queue.push(resolve);
      this.#callNext();
    });
  }

  release(isReturning: boolean): void {
    this.#taken -= 1;
    if (isReturning) this.#returned -= 1;
    this.#freedAt = this.#clock();
    this.#callNext();
  }

  saturation(): Saturation {
    const now = this.#clock();
    if (this.#taken >= this.#most && now - this.#freedAt > minOverloadMillis) return 'stuck';
    const goesOn = now - this.#refusedAt <= overloadGapMillis;
    return goesOn && this.#refusedAt - this.#refusedFrom > minOverloadMillis ? 'lasting' : 'none';
  }

  #add(): void {
    // Before the first slot was taken, none can have been released.
    if (this.#taken === 0) this.#freedAt = this.#clock();
    this.#taken += 1;
  }

  /**
   * Admits waiting requests. At least one returning request always runs, no matter how many new ones there
   * are.
   */
  #callNext(): void {
    while (
      this.#queue.length > 0 &&
      // guard: few come back at once
      this.#returned < this.#mostReturned &&
      // guard: who comes back waits for a place
      (this.#taken < this.#most || this.#returned === 0)
    ) {
      this.#add();
      this.#returned += 1;
      this.#queue.shift()?.();
    }
  }
}
