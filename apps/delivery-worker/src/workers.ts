/** Creates the worker of every job. A job without a worker is a type error. */
import {
  askForge,
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
import { forEachNode } from '@muster/placement';
import {
  deliverInvitation,
  deliverNotification,
  mailNotification,
  mailMissingDomain,
  mailPasskey,
  mailTokenEnd,
  pushNotification,
  type DeliveryChannels,
} from './deliver.ts';
import { askForAllChecks, checkIdentityProvider, type IssuerLook } from './identity-providers.ts';
import { type OrganizationWorker, type Workers } from './perform.ts';
import { type ExpiryContext, noteExpired } from './expiry.ts';
import { recalculateSeatsOf, reconcileSeats } from './seats.ts';
import { warnOfEnds } from './token-ends.ts';
import { createUpkeep, type UpkeepContext } from './upkeep.ts';

/** Handlers for the operations that jobs perform. */
const environment = { handlers: performable(handlers), reactions };

/** Dependencies of the workers. */
export interface WorkerContext extends DeliveryChannels, UpkeepContext, ExpiryContext {
  /** Calls a forge, within the allowed networks. */
  readonly askForge: AskForge;
  /** Configuration for checking identity providers and DNS records. */
  readonly issuers: IssuerLook;
  /** Encrypts the secrets of connections, and contains the URL template of the pages that show subjects. */
  readonly webhooks: Pick<WebhooksSetUp, 'seals' | 'subjectUrl'>;
}

export function createWorkers(context: WorkerContext): Workers {
  const { pool, logger, webhooks } = context;
  const forges = createForgeCalls({
    ...{ pool, environment, seals: webhooks.seals, ask: context.askForge },
    linkTo: ({ projectId, ...story }) =>
      linkTo(webhooks.subjectUrl, { projectId, subject: { type: 'story', ...story } }),
  });

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
    'identityProviders.check': (signal) => forEachNode(pool, (at) => askForAllChecks(at.pool, signal)),
    'tokens.warn': (signal) => forEachNode(pool, (at) => warnOfEnds(at.pool, signal)),
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
    'forge.ask': ({ payload, ...job }) => askForge(forges, job, payload),
    'forge.app': ({ payload, ...job }) => makeApp(forges, job, payload),
    'forge.reconcile': (signal) => forEachNode(pool, (at) => reconcile(at.pool, signal)),

    ...createUpkeep(context),

    'leases.sweep': (signal) => noteExpired(context, signal),
    'seats.recalculate': recalculateSeatsOf,
    'seats.reconcile': (signal) =>
      forEachNode(pool, async (at) => {
        const { drifted, overdrawn } = await reconcileSeats(at.pool, signal);
        for (const seats of drifted)
          logger.warn(seats, 'the stored number of seats was wrong and has been corrected');
        for (const seats of overdrawn) logger.warn(seats, 'more seats are in use than were paid for');
        context.count('driftedSeats', drifted.length);
      }),
  };
}
