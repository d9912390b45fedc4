import { type Quota, type Rate } from './rate.ts';

/** One token of one bucket. */
export interface Cost {
  readonly key: string;
  readonly rate: Rate;
}

/** Where buckets are kept. */
export interface Store {
  /**
   * Takes from all buckets or from none, and says how each stands afterwards; one with a wait was empty. The one at
   * `optional` may be empty without that keeping the others from being taken.
   */
  take(costs: readonly Cost[], optional?: number): Promise<readonly Quota[]>;
  giveBack(costs: readonly Cost[]): Promise<void>;
}
