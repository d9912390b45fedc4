/** A seeded random number generator: the same seed gives the same sequence. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number of at least 0 and less than 1, using the generator mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer within the range, including both ends. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(of: number): boolean {
    return this.next() < of;
  }

  pick<One>(from: readonly One[]): One {
    const one = from[this.between(0, from.length - 1)];
    if (one === undefined) throw new Error('there is nothing to pick from');
    return one;
  }

  shuffle<One>(all: readonly One[]): One[] {
    return all
      .map((one) => ({ one, place: this.next() }))
      .sort((a, b) => a.place - b.place)
      .map(({ one }) => one);
  }

  /**
   * Returns a generator for one actor, so that its sequence does not depend on the order in which actors draw
   * numbers.
   */
  another(): Dice {
    return new Dice(this.between(0, 2 ** 32 - 1));
  }
}
