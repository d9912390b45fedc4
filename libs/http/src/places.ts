/**
 * The places of requests that are being answered. A request takes a place or is turned away. A request that comes back
 * from waiting queues for one, so that an event which wakes hundreds keeps no caller out.
 */

/** Of all places, those that may be taken by who came back: as many as there are connections for six places each. */
const returnedPart = 1 / 6;
/** Callers that were turned away come again after a second. Two refusals within this time belong to one overload. */
const goesOnMillis = 2_000;
const lastingMillis = 5_000;

export type Saturation =
  /** Callers may have been turned away, and not for long. */
  | 'none'
  /** Callers have been turned away for a while, and others are being answered. */
  | 'lasting'
  /** All places are taken, and for a while none has come free. */
  | 'stuck';

export class Places {
  readonly #most: number;
  readonly #mostReturned: number;
  readonly #clock: () => number;
  readonly #queue: (() => void)[] = [];
  #taken = 0;
  #returned = 0;
  #freedAt: number;
  #refusedFrom = -Infinity;
  #refusedAt = -Infinity;

  constructor(most: number, clock: () => number = () => performance.now()) {
    this.#most = most;
    this.#mostReturned = Math.max(Math.floor(most * returnedPart), 1);
    this.#clock = clock;
    this.#freedAt = clock();
  }

  get taken(): number {
    return this.#taken;
  }

  /** Takes one. There are as many again for what is urgent; who came back takes none from those who come. */
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
    if (now - this.#refusedAt > goesOnMillis) this.#refusedFrom = now;
    this.#refusedAt = now;
    return false;
  }

  /** Takes one as soon as it is this one's turn. */
  comeBack(): Promise<void> {
    return new Promise((resolve) => {
      this.#queue.push(resolve);
      this.#callNext();
    });
  }

  leave(cameBack: boolean): void {
    this.#taken -= 1;
    if (cameBack) this.#returned -= 1;
    this.#freedAt = this.#clock();
    this.#callNext();
  }

  saturation(): Saturation {
    const now = this.#clock();
    if (this.#taken >= this.#most && now - this.#freedAt > lastingMillis) return 'stuck';
    const goesOn = now - this.#refusedAt <= goesOnMillis;
    return goesOn && this.#refusedAt - this.#refusedFrom > lastingMillis ? 'lasting' : 'none';
  }

  #add(): void {
    // Until the first place was taken nothing can have come free.
    if (this.#taken === 0) this.#freedAt = this.#clock();
    this.#taken += 1;
  }

  /** One of them always goes on, however many callers there are. */
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
