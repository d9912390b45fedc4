/** How long leases and locks last. */

/** Below this a lease would be over before its answer has arrived. */
const shortestSeconds = 5;

/** What is given for what was asked: at least 5 s, at most what the policy allows. */
export const grantedTtl = (asked: number | undefined, usual: number, most: number): number =>
  Math.max(shortestSeconds, Math.min(asked ?? usual, most));

/** A renewal keeps the time that was given, unless another is asked for. */
export const renewedTtl = (
  asked: number | undefined,
  given: number | null,
  policy: { readonly defaultLeaseTtlSeconds: number; readonly maxLeaseTtlSeconds: number },
): number =>
  asked === undefined
    ? (given ?? policy.defaultLeaseTtlSeconds)
    : grantedTtl(asked, policy.defaultLeaseTtlSeconds, policy.maxLeaseTtlSeconds);
