/** Recurring jobs. The schedule is stored in Redis, once for all workers, and recreated if Redis loses it. */
import { type ScheduledJobName } from '@muster/jobs';

const hourSeconds = 60 * 60;

/** Seconds between runs of each job. A missing job is a type error. */
export const jobIntervalsSeconds: Readonly<Record<ScheduledJobName, number>> = {
  'retention.purge': hourSeconds,
  'deletions.remove': 60,
  'files.remove': 60,
  'digests.request': 10 * 60,
  'tokens.warn': hourSeconds,
  'identityProviders.check': 24 * hourSeconds,
  'forge.reconcile': 10 * 60,
  // No lease is shorter than 5 seconds, so each sweep sees every lease that expires before the next sweep.
  'leases.sweep': 5,
  'seats.reconcile': 24 * hourSeconds,
};
