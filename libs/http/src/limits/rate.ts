/**
 * Implements rates by the generic cell rate algorithm (GCRA), in which one time per bucket is its whole
 * state.
 */
import { z } from 'zod';

/** A number of tokens available at the same time, and the seconds until one more is added. */
export interface Rate {
  readonly burst: number;
  readonly seconds: number;
}

/** A rate in the environment. `30/2` means thirty at the same time, and one more every two seconds. */
export const rateVariable = (defaultRate: string) =>
  z
    .string()
    .default(defaultRate)
    .transform((text, context): Rate => {
      const [burst, seconds] = text.split('/').map(Number);
      if (/^\d{1,7}\/\d{1,7}(\.\d{1,3})?$/.test(text) && burst && seconds) return { burst, seconds };
      context.addIssue({
        code: 'custom',
        message:
          'is not a rate such as 30/2 (a burst of 30, then one every 2 seconds; the least interval is 0.001)',
      });
      return z.NEVER;
    });

export const refillIntervalMillis = ({ seconds }: Rate): number => seconds * 1_000;

/**
 * Returns the milliseconds of this process's monotonic clock. Usage expires in time even if the machine's
 * clock is set back.
 */
export const monotonicMillis = (): number => Math.floor(performance.now());

/** The state of a bucket. */
export interface Quota {
  readonly remainingTokens: number;
  /** The milliseconds until one token is available; 0 if one was taken. */
  readonly waitMillis: number;
  /** The milliseconds until the bucket is full. */
  readonly millisUntilFull: number;
}

/**
 * Computes the state of a bucket. `fullAt` is the time when it is full again; a time in the past means that
 * it is full.
 */
export function quotaOf(rate: Rate, fullAt: number, now: number): Quota {
  const usedMillis = Math.max(fullAt - now, 0);
  const free = rate.burst * refillIntervalMillis(rate) - usedMillis;
  return {
    remainingTokens: Math.max(Math.floor(free / refillIntervalMillis(rate)), 0),
    waitMillis: Math.max(refillIntervalMillis(rate) - free, 0),
    millisUntilFull: usedMillis,
  };
}

/** Returns the new `fullAt` after taking `count` tokens. */
export const fullAtAfterTaking = (rate: Rate, fullAt: number, now: number, count = 1): number =>
  Math.max(fullAt, now) + count * refillIntervalMillis(rate);

/** Returns the new `fullAt` after returning one token. */
export const fullAtAfterRefund = (rate: Rate, fullAt: number): number => fullAt - refillIntervalMillis(rate);
