/** Every job and who does it, on one page. One that is missing does not compile. */
import { type Pool } from '@muster/database';
import { syncPoints } from '@muster/gamification';
import { type Logger } from 'pino';
import {
  deliverInvitation,
  deliverNotification,
  mailNotification,
  pushNotification,
  type Ways,
} from './deliver.ts';
import { type OrganizationWorker, type ScheduledWorker, type Workers } from './perform.ts';
import {
  purgeAgentRuns,
  purgeAudit,
  purgeIdempotencyKeys,
  purgeLocks,
  purgeNotifications,
  purgeOrganizations,
  purgeOutbox,
} from './purge.ts';
import { findOverdrawn } from './seats.ts';

/** What the workers stand on. */
export interface Ground extends Ways {
  readonly pool: Pool;
  readonly logger: Logger;
  /** How long notifications that were read, and runs that ended, are kept. */
  readonly retentionDays: number;
}

export function workersOn(ground: Ground): Workers {
  const { pool, logger, retentionDays } = ground;

  const countPoints: OrganizationWorker = async ({ db, orgId }) => {
    await syncPoints(db, orgId);
  };
  const purging =
    (
      what: string,
      purge: (pool: Pool, signal: AbortSignal, days: number) => Promise<number>,
    ): ScheduledWorker =>
    async (signal) => {
      const removed = await purge(pool, signal, retentionDays);
      if (removed > 0) logger.info({ removed }, `purged ${what}`);
    };

  return {
    event: countPoints,
    'gamification.sync': countPoints,

    'invitation.mail': deliverInvitation(ground),
    'notification.deliver': deliverNotification(ground),
    'notification.mail': mailNotification(ground),
    'notification.push': pushNotification(ground),

    'outbox.purge': purging('done rows of the outbox', purgeOutbox),
    'idempotencyKeys.purge': purging('answers to Idempotency-Keys', purgeIdempotencyKeys),
    'audit.purge': purging('audit entries', purgeAudit),
    'locks.purge': purging('locks past their time', purgeLocks),
    'notifications.purge': purging('notifications that were read', purgeNotifications),
    'agentRuns.purge': purging('runs of agents that ended', purgeAgentRuns),
    'organizations.purge': purging('organizations', purgeOrganizations),

    'seats.report': async (signal) => {
      for (const seats of await findOverdrawn(pool, signal))
        logger.warn(seats, 'more seats are held than were bought');
    },
  };
}
