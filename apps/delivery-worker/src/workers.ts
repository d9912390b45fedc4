/** Every job and who does it, on one page. One that is missing does not compile. */
import { atEachNode, type Pool } from '@muster/database';
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
const environment = { handlers: performable(handlers), reactions };

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
  readonly removed: (rows: number) => void;
}

export function createWorkers(context: WorkerContext): Workers {
  const { pool, logger, retentionDays, removed, webhooks } = context;
  const forges = createForgeCalls({
    ...{ pool, environment, seals: webhooks.seals, ask: context.askForge },
    linkTo: ({ projectId, ...story }) =>
      linkTo(webhooks.subjectUrl, { projectId, subject: { type: 'story', ...story } }),
  });

  const monthsLater = (error: unknown): [] => {
    logger.warn({ err: error }, 'the months of tables are kept at the next turn');
    return [];
  };
  const purgeAt = async (at: Pool, signal: AbortSignal): Promise<void> => {
    await endAbandoned(at, signal);
    await readForThem(at, signal);
    for (const change of await keepMonths(at).catch(monthsLater)) logger.info(change, 'a month of a table');
    for (const table of purgedTables) {
      const rows = await purge(at, signal, table, retentionDays);
      if (rows > 0) logger.info({ table, rows }, 'purged what is past its day');
    }
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
    'identityProviders.check': (signal) => atEachNode(pool, (at) => askForAllChecks(at.pool, signal)),
    'tokens.warn': (signal) => atEachNode(pool, (at) => warnOfEnds(at.pool, signal)),
    'forge.translate': async ({ db, orgId, payload: { deliveryId } }) => {
      await translateDelivery({ db, orgId, environment }, deliveryId);
      return undefined;
    },
    'forge.replay': async ({ db, orgId, payload: { executionId } }) => {
      await replayFacts({ db, orgId, environment }, executionId);
      return undefined;
    },
    'forge.status': ({ payload, ...job }) => sendStatus(forges, job, payload),
    'forge.statuses': (work) => lookAtHeads(forges, work),
    'forge.ask': ({ payload: { executionId }, ...job }) => askAboutPull(forges, job, executionId),
    'forge.app': ({ payload, ...job }) => makeApp(forges, job, payload),
    'forge.reconcile': (signal) => atEachNode(pool, (at) => reconcile(at.pool, signal)),

    'retention.purge': (signal) => atEachNode(pool, (at) => purgeAt(at.pool, signal)),
    'deletions.remove': (signal) =>
      atEachNode(pool, async (at) => {
        const progress: Progress = {
          removed,
          log: (about, message) => {
            logger.info(about, message);
          },
        };
        await removeProjects(at.pool, signal, progress);
        await removeWebhooks(at.pool, signal, progress);
        await removeOrganizations(at, signal, progress);
      }),

    'seats.report': (signal) =>
      atEachNode(pool, async (at) => {
        for (const seats of await findOverdrawn(at.pool, signal))
          logger.warn(seats, 'more seats are held than were bought');
      }),
  };
}
