/** What comes again by itself: kept in Redis, once for all workers, and made anew where Redis forgot it. */
import { type ScheduledJobName } from '@muster/jobs';

const hour = 60 * 60;

/** Each with the seconds between. One that is missing does not compile. */
export const schedule: Readonly<Record<ScheduledJobName, number>> = {
  'retention.purge': hour,
  'deletions.remove': 60,
  'tokens.warn': hour,
  'identityProviders.check': 24 * hour,
  'forge.reconcile': 10 * 60,
  // No lease is shorter, so that each one that expires before the next sweep is known to this one.
  'leases.sweep': 5,
  'seats.reconcile': 24 * hour,
};
