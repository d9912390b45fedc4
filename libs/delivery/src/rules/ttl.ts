/** How long leases and locks last. */
import { type Policy } from '@muster/registry';

/** Below this a lease would be over before its answer has arrived. */
const shortestSeconds = 5;

/** What is given for what was asked: at least 5 s, at most what the policy allows. */
export const grantedTtl = (asked: number, most: number): number =>
  Math.max(shortestSeconds, Math.min(asked, most));

/** The same of a lease: what is usual, and the most, stand in the policy. */
export const leaseTtl = (
  asked: number | undefined,
  { defaultLeaseTtlSeconds, maxLeaseTtlSeconds }: Policy,
): number => grantedTtl(asked ?? defaultLeaseTtlSeconds, maxLeaseTtlSeconds);
