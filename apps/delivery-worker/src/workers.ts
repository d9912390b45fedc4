/** Every job and who does it, on one page. One that is missing does not compile. */
import { type Pool } from '@muster/database';
import {
  askAboutPull,
  type AskForge,
  createForgeCalls,
  lookAtHeads,
  makeApp,
  reconcile,
  replayFacts,
  sendStatus,
  translateDelivery,
} from '@muster/forges';
import { syncPoints } from '@muster/gamification';
import { handlers, performable, reactions } from '@muster/operations';
import { linkTo, type WebhooksSetUp } from '@muster/notifications';
import { type Logger } from 'pino';
import {
  deliverInvitation,
  deliverNotification,
  mailNotification,
  mailMissingDomain,
  mailPasskey,
  mailTokenEnd,
  pushNotification,
  type Channels,
} from './deliver.ts';
import { askForAllChecks, checkIdentityProvider, type IssuerLook } from './identity-providers.ts';
import { endAbandoned } from './abandoned-runs.ts';
import { type OrganizationWorker, type Workers } from './perform.ts';
import { type Progress, removeOrganizations, removeProjects, removeWebhooks } from './remove.ts';
import { keepMonths } from './months.ts';
import { purge, purgedTables, readForThem } from './purge.ts';
import { findOverdrawn } from './seats.ts';
import { warnOfEnds } from './token-ends.ts';

/** What jobs perform, they perform as operations. */
const surroundings = { handlers: performable(handlers), reactions };

/** What the workers stand on. */
export interface WorkerContext extends Channels {
  readonly pool: Pool;
  readonly logger: Logger;
  /** How long what is over is kept. */
  readonly retentionDays: number;
  /** Calls a forge, where it may be called. */
  readonly askForge: AskForge;
  /** How issuers of OpenID Connect are asked, and records of the DNS. */
  readonly issuers: IssuerLook;
  /** How secrets of connections are sealed, and where people see stories. */
  readonly webhooks: Pick<WebhooksSetUp, 'seals' | 'subjectUrl'>;
  /** Told of rows that were removed, because what they hang on was deleted. */
  readonly removed: (table: string, rows: number) => void;
}

export function createWorkers(context: WorkerContext): Workers {
  const { pool, logger, retentionDays, removed, webhooks } = context;
  const forges = createForgeCalls({
    ...{ pool, surroundings, seals: webhooks.seals, ask: context.askForge },
    linkTo: ({ projectId, ...story }) =>
      linkTo(webhooks.subjectUrl, { projectId, subject: { type: 'story', ...story } }),
  });

  const monthsLater = (error: unknown): [] => {
    logger.warn({ err: error }, 'the months of tables are kept at the next turn');
    return [];
  };
  const countPoints: OrganizationWorker = async ({ db, orgId }) => {
    await syncPoints(db, orgId);
  };
  return {
    event: countPoints,
    'gamification.sync': countPoints,

    'invitation.mail': deliverInvitation(context),
    'notification.deliver': deliverNotification(context),
    'notification.mail': mailNotification(context),
    'notification.push': pushNotification(context),

    'token.mail': mailTokenEnd(context),
    'passkey.mail': mailPasskey(context),
    'identityProvider.check': checkIdentityProvider(context.issuers),
    'domain.mail': mailMissingDomain(context),
    'identityProviders.check': (signal) => askForAllChecks(pool, signal),
    'tokens.warn': (signal) => warnOfEnds(pool, signal),
    'forge.translate': async ({ db, orgId, payload: { deliveryId } }) => {
      await translateDelivery({ db, orgId, surroundings }, deliveryId);
      return undefined;
    },
    'forge.replay': async ({ db, orgId, payload: { executionId } }) => {
      await replayFacts({ db, orgId, surroundings }, executionId);
      return undefined;
    },
    'forge.status': ({ payload, ...job }) => sendStatus(forges, job, payload),
    'forge.statuses': (work) => lookAtHeads(forges, work),
    'forge.ask': ({ payload: { executionId }, ...job }) => askAboutPull(forges, job, executionId),
    'forge.app': ({ payload, ...job }) => makeApp(forges, job, payload),
    'forge.reconcile': (signal) => reconcile(pool, signal),

    'retention.purge': async (signal) => {
      await endAbandoned(pool, signal);
      await readForThem(pool, signal);
      for (const change of await keepMonths(pool).catch(monthsLater))
        logger.info(change, 'a month of a table');
      for (const table of purgedTables) {
        const rows = await purge(pool, signal, table, retentionDays);
        if (rows > 0) logger.info({ table, rows }, 'purged what is past its day');
      }
    },
    'deletions.remove': async (signal) => {
      const progress: Progress = {
        removed,
        log: (about, message) => {
          logger.info(about, message);
        },
      };
      await removeProjects(pool, signal, progress);
      await removeWebhooks(pool, signal, progress);
      await removeOrganizations(pool, signal, progress);
    },

    'seats.report': async (signal) => {
      for (const seats of await findOverdrawn(pool, signal))
        logger.warn(seats, 'more seats are held than were bought');
    },
  };
}
