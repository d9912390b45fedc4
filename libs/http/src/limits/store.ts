import { type Level, type Rate } from './rate.ts';

/** One token of one bucket. */
export interface Draw {
  readonly key: string;
  readonly rate: Rate;
}

/** Where buckets are kept. */
export interface Store {
  /**
   * Takes from all buckets or from none, and says how each stands afterwards; one with a wait was empty. The one at
   * `optional` may be empty without that keeping the others from being taken.
   */
  take(draws: readonly Draw[], optional?: number): Promise<readonly Level[]>;
  giveBack(draws: readonly Draw[]): Promise<void>;
}
