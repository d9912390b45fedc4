import { type Quota, type Rate } from './rate.ts';

/** The cost of one token of one bucket. */
export interface Cost {
  readonly key: string;
  readonly rate: Rate;
}

/** A store of buckets. */
export interface BucketStore {
  /**
   * Takes a token from all buckets or from none, and returns the state of each. A bucket with a wait was
   * empty. An empty bucket at the index `optional` does not prevent taking from the others.
   */
  take(costs: readonly Cost[], optional?: number): Promise<readonly Quota[]>;
  refund(costs: readonly Cost[]): Promise<void>;
}
