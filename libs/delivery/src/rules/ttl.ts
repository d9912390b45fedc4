/** The durations of leases and locks. */
import { type Policy } from '@muster/contract';

/**
 * The minimum duration in seconds. A lease or lock of a shorter duration could expire before the answer
 * reaches its holder.
 */
const minDurationSeconds = 5;

/** Limits the requested duration in seconds: at least 5, at most `most`. */
export const clampDurationSeconds = (requestedSeconds: number, maxSeconds: number): number =>
  Math.max(minDurationSeconds, Math.min(requestedSeconds, maxSeconds));

/** Limits the requested duration of a lease in seconds. The policy has the default and the maximum. */
export const leaseDurationSeconds = (
  requestedSeconds: number | undefined,
  { defaultLeaseTtlSeconds, maxLeaseTtlSeconds }: Policy,
): number => clampDurationSeconds(requestedSeconds ?? defaultLeaseTtlSeconds, maxLeaseTtlSeconds);
