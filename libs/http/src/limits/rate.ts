/** How often something may be done, by the generic cell rate algorithm: one time per bucket says all of it. */
import { z } from 'zod';

/** How many at once, and one more after so many seconds. */
export interface Rate {
  readonly burst: number;
  readonly seconds: number;
}

/** A rate as it stands in the environment. `30/2`: thirty at once, and one more every two seconds. */
export const rateVariable = (usual: string) =>
  z
    .string()
    .default(usual)
    .transform((text, context): Rate => {
      const [burst, seconds] = text.split('/').map(Number);
      if (/^\d{1,7}\/\d{1,7}(\.\d{1,3})?$/.test(text) && burst && seconds) return { burst, seconds };
      context.addIssue({
        code: 'custom',
        message: 'is no rate such as 30/2 (burst/seconds for one more; 0.001 is the least)',
      });
      return z.NEVER;
    });

export const intervalMillis = ({ seconds }: Rate): number => seconds * 1_000;

/** By a clock that nothing sets, of this process: what was taken is over in time also where the machine's is set back. */
export const millisNow = (): number => Math.floor(performance.now());

/** How a bucket stands. */
export interface Quota {
  readonly left: number;
  /** Until one is possible; 0 for one that was taken. */
  readonly waitMillis: number;
  /** Until it is as good as new. */
  readonly usedMillis: number;
}

/** `fullAt`: when the bucket will be as good as new; in the past where it is already. */
export function quotaOf(rate: Rate, fullAt: number, now: number): Quota {
  const usedMillis = Math.max(fullAt - now, 0);
  const free = rate.burst * intervalMillis(rate) - usedMillis;
  return {
    left: Math.max(Math.floor(free / intervalMillis(rate)), 0),
    waitMillis: Math.max(intervalMillis(rate) - free, 0),
    usedMillis,
  };
}

/** One more, or so many. */
export const taken = (rate: Rate, fullAt: number, now: number, count = 1): number =>
  Math.max(fullAt, now) + count * intervalMillis(rate);

/** One less. */
export const givenBack = (rate: Rate, fullAt: number): number => fullAt - intervalMillis(rate);
