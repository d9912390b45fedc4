/** The generic cell rate algorithm: one time per bucket says all of it. In milliseconds. */
import { type Rate } from '../config.ts';

export interface Bucket {
  readonly name: string;
  readonly rate: Rate;
}

const interval = ({ seconds }: Rate): number => seconds * 1_000;
const room = (rate: Rate): number => rate.burst * interval(rate);

/** How a bucket stands: what is left, and how long until one attempt is possible. */
export interface Level {
  readonly left: number;
  readonly waitMillis: number;
}

/** `fullAt`: when the bucket will be as good as new; in the past where it is already. */
export function levelOf(rate: Rate, fullAt: number, now: number): Level {
  const used = Math.max(fullAt - now, 0);
  const free = room(rate) - used;
  return {
    left: Math.max(Math.floor(free / interval(rate)), 0),
    waitMillis: Math.max(interval(rate) - free, 0),
  };
}

/** One attempt more. */
export const taken = (rate: Rate, fullAt: number, now: number): number =>
  Math.max(fullAt, now) + interval(rate);

/** One attempt less. */
export const givenBack = (rate: Rate, fullAt: number): number => fullAt - interval(rate);
