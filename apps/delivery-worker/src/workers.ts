/** Creates the worker of every job. A job without a worker is a type error. */
import {
  pollForge,
  type SendForgeRequest,
  createForgeCalls,
  queueChangedStatuses,
  fetchAppKeys,
  fetchChanges,
  requestPullPolls,
  replayFacts,
  sendStatus,
  processDelivery,
} from '@muster/forges';
import { syncPoints } from '@muster/gamification';
import { type ExportContext, prepareExportRun } from '@muster/attachments';
import { archiveReaders, handlers, performableHandlers, reactions } from '@muster/operations';
import { subjectLink, type WebhooksConfig } from '@muster/notifications';
import { forEachNode } from '@muster/placement';
import {
  mailChat,
  mailDigest,
  mailInvitation,
  deliverNotification,
  mailNotification,
  mailMissingDomain,
  mailPasskey,
  mailTokenExpiry,
  pushNotification,
  type DeliveryChannels,
} from './deliver.ts';
import {
  requestAllProviderChecks,
  checkIdentityProvider,
  type IssuerCheckOptions,
} from './identity-providers.ts';
import { respondInSlack } from './respond-in-slack.ts';
import { type OrganizationWorker, type Workers } from './perform.ts';
import { type ExpiryContext, recordExpiredLeases } from './expiry.ts';
import { recalculateSeatsOf, reconcileSeats } from './seats.ts';
import { requestDigestMails } from './digests.ts';
import { warnOfExpiringTokens } from './token-ends.ts';
import { createUpkeep, type UpkeepContext } from './upkeep.ts';

/** Handlers for the operations that jobs perform. */
export const environment = { handlers: performableHandlers(handlers), reactions };

/** Dependencies of the workers. */
export interface WorkerContext extends DeliveryChannels, UpkeepContext, ExpiryContext {
  /** Calls a forge, within the allowed networks. */
  readonly askForge: SendForgeRequest;
  /** Configuration for checking identity providers and DNS records. */
  readonly issuers: IssuerCheckOptions;
  /** The hour of the day at which daily digests are sent. */
  readonly digestHourUtc: number;
  /** Encrypts the secrets of connections, and contains the URL template of the pages that show subjects. */
  readonly webhooks: Pick<WebhooksConfig, 'seals' | 'subjectUrl'>;
  /** The keys from which those that sign exports are derived. */
  readonly secretsKeys: readonly string[];
  /** The limits of a run that writes an export; the defaults if undefined. */
  readonly exportLimits?: ExportContext['limits'];
}

export function createWorkers(context: WorkerContext): Workers {
  const { pool, logger, webhooks } = context;
  const forges = createForgeCalls({
    ...{ pool, environment, seals: webhooks.seals, ask: context.askForge },
    linkToStory: ({ projectId, ...story }) =>
      subjectLink(webhooks.subjectUrl, { projectId, subject: { type: 'story', ...story } }),
  });

  const exporting: ExportContext = {
    ...{ pool, storage: context.storage, readers: archiveReaders, secretsKeys: context.secretsKeys },
    ...{ baseUrl: context.baseUrl, limits: context.exportLimits ?? {} },
    onError: (error, exportId) => {
      logger.warn({ err: error, exportId }, 'a run of an export failed');
    },
  };
  const countPoints: OrganizationWorker = async ({ db, orgId }) => {
    await syncPoints(db, orgId);
  };
  return {
    event: countPoints,
    'gamification.sync': countPoints,

    'invitation.mail': mailInvitation(context),
    'notification.deliver': deliverNotification(context),
    'notification.mail': mailNotification(context),
    'notification.push': pushNotification(context),

    'digest.mail': mailDigest(context),
    'digests.request': (signal) =>
      forEachNode(pool, (at) => requestDigestMails(at.pool, signal, context.digestHourUtc)),

    'token.mail': mailTokenExpiry(context),
    'passkey.mail': mailPasskey(context),
    'chat.mail': mailChat(context),
    'slack.respond': respondInSlack(context),
    'identityProvider.check': checkIdentityProvider(context.issuers),
    'domain.mail': mailMissingDomain(context),
    'identityProviders.check': (signal) =>
      forEachNode(pool, (at) => requestAllProviderChecks(at.pool, signal)),
    'tokens.warn': (signal) => forEachNode(pool, (at) => warnOfExpiringTokens(at.pool, signal)),
    'forge.translate': async ({ db, orgId, payload: { deliveryId } }) => {
      await processDelivery({ db, orgId, environment }, deliveryId);
      return undefined;
    },
    'forge.replay': async ({ db, orgId, payload: { executionId } }) => {
      await replayFacts({ db, orgId, environment }, executionId);
      return undefined;
    },
    'forge.status': ({ payload, ...job }) => sendStatus(forges, job, payload),
    'forge.statuses': (work) => queueChangedStatuses(forges, work),
    'forge.ask': ({ payload, ...job }) => pollForge(forges, job, payload),
    'forge.changes': ({ payload, ...job }) => fetchChanges(forges, job, payload.executionId),
    'forge.app': ({ payload, ...job }) => fetchAppKeys(forges, job, payload),
    'forge.reconcile': (signal) => forEachNode(pool, (at) => requestPullPolls(at.pool, signal)),

    'export.write': (job) => prepareExportRun(exporting, job, job.payload.exportId),
    ...createUpkeep(context),

    'leases.sweep': (signal) => recordExpiredLeases(context, signal),
    'seats.recalculate': recalculateSeatsOf,
    'seats.reconcile': (signal) =>
      forEachNode(pool, async (at) => {
        const { drifted, overdrawn } = await reconcileSeats(at.pool, signal);
        for (const seats of drifted)
          logger.warn(seats, 'the stored number of seats was wrong and has been corrected');
        for (const seats of overdrawn) logger.warn(seats, 'more seats are in use than were paid for');
        context.incrementCounter('driftedSeats', drifted.length);
      }),
  };
}
