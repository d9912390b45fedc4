/**
 * Formats limits for response headers by draft-ietf-httpapi-ratelimit-headers, as lists of structured fields.
 */
import { type ReasonOf, tooManyRequests } from '@muster/contract';
import { type Quota, type Rate } from './rate.ts';

/** A limit with its public name. */
export interface Limit {
  readonly name: string;
  readonly rate: Rate;
}

const toSeconds = (millis: number): number => Math.ceil(millis / 1_000);

/**
 * Formats RateLimit-Policy: the quota, and the window in which it is replenished. It is the same for every
 * response.
 */
export const rateLimitPolicyField = (limits: readonly Limit[]): string =>
  limits
    .map(({ name, rate }) => `"${name}";q=${rate.burst};w=${Math.ceil(rate.burst * rate.seconds)}`)
    .join(', ');

/** Formats RateLimit: the remaining quota, and the time until it grows. */
export const rateLimitField = (limits: readonly Limit[], quotas: readonly Quota[]): string =>
  limits
    .map(({ name, rate }, index) => {
      const { remainingTokens: left, waitMillis } = quotas[index] ?? { remainingTokens: 0, waitMillis: 0 };
      const until = waitMillis > 0 ? waitMillis : left < rate.burst ? rate.seconds * 1_000 : 0;
      return `"${name}";r=${left};t=${toSeconds(until)}`;
    })
    .join(', ');

/** Returns the value of Retry-After: the seconds until all limits have a token available, at least 1. */
export const retryAfterSeconds = (quotas: readonly Quota[]): number =>
  Math.max(toSeconds(Math.max(...quotas.map(({ waitMillis }) => waitMillis))), 1);

/** Throws 429 if one of the limits is exhausted. */
export function requireWithinLimits(
  quotas: readonly Quota[],
  reason: ReasonOf<'rate_limited'>,
  message?: string,
): void {
  if (quotas.some(({ waitMillis }) => waitMillis > 0))
    throw tooManyRequests(reason, retryAfterSeconds(quotas), message);
}
