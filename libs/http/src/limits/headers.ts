/** What a caller is told of limits, as draft-ietf-httpapi-ratelimit-headers has it: structured fields, a list of each. */
import { type ReasonOf, tooMany } from '@muster/registry';
import { type Quota, type Rate } from './rate.ts';

/** A limit by the name that callers know it by. */
export interface Limit {
  readonly name: string;
  readonly rate: Rate;
}

const seconds = (millis: number): number => Math.ceil(millis / 1_000);

/** RateLimit-Policy: the quota, and the window in which it grows again. The same for every answer. */
export const rateLimitPolicyField = (limits: readonly Limit[]): string =>
  limits
    .map(({ name, rate }) => `"${name}";q=${rate.burst};w=${Math.ceil(rate.burst * rate.seconds)}`)
    .join(', ');

/** RateLimit: what is left, and for how long it is no more than that. */
export const rateLimitField = (limits: readonly Limit[], quotas: readonly Quota[]): string =>
  limits
    .map(({ name, rate }, index) => {
      const { left, waitMillis } = quotas[index] ?? { left: 0, waitMillis: 0 };
      const until = waitMillis > 0 ? waitMillis : left < rate.burst ? rate.seconds * 1_000 : 0;
      return `"${name}";r=${left};t=${seconds(until)}`;
    })
    .join(', ');

/** Retry-After: when all of them have one to take. */
export const retryAfterSeconds = (quotas: readonly Quota[]): number =>
  Math.max(seconds(Math.max(...quotas.map(({ waitMillis }) => waitMillis))), 1);

/** Throws 429 where one of them has none to take. */
export function requireRoom(
  quotas: readonly Quota[],
  reason: ReasonOf<'rate_limited'>,
  message?: string,
): void {
  if (quotas.some(({ waitMillis }) => waitMillis > 0))
    throw tooMany(reason, retryAfterSeconds(quotas), message);
}
