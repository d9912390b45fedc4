/** The durations of leases and locks. */
import { type Policy } from '@muster/registry';

/**
 * The minimum duration in seconds. A lease or lock of a shorter duration could expire before the answer
 * reaches its holder.
 */
const shortestSeconds = 5;

/** Limits the requested duration in seconds: at least 5, at most `most`. */
export const grantedTtl = (asked: number, most: number): number =>
  Math.max(shortestSeconds, Math.min(asked, most));

/** Limits the requested duration of a lease in seconds. The policy has the default and the maximum. */
export const leaseTtl = (
  asked: number | undefined,
  { defaultLeaseTtlSeconds, maxLeaseTtlSeconds }: Policy,
): number => grantedTtl(asked ?? defaultLeaseTtlSeconds, maxLeaseTtlSeconds);
