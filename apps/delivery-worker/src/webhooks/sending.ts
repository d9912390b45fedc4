/** Creates the webhook runner of this process. Each attempt is counted and logged. */
import { type Pool } from '@muster/driver';
import { type WebhooksConfig } from '@muster/notifications';
import { reactions } from '@muster/operations';
import { createSender } from '@muster/outbound/sender';
import { type Logger } from 'pino';
import { type IncrementCounter } from '../counters.ts';
import { createWebhookRunner, attemptOutcomeOf, type WebhookRunner } from './runner.ts';

export const createLoggedWebhookRunner = (
  pool: Pool,
  webhooks: WebhooksConfig,
  count: IncrementCounter,
  logger: Logger,
): WebhookRunner =>
  createWebhookRunner({
    pool,
    sender: createSender({ networks: webhooks.networks }),
    turnConfig: { ...webhooks, reactions },
    onAttempt: (orgId, webhookId, sent) => {
      const outcome = attemptOutcomeOf(sent);
      count(outcome);
      const { status, ms, error } = sent.attempt;
      logger.info({ orgId, webhookId, outcome, status, durationMs: ms, error }, 'webhook');
    },
    onFault: (error, webhookId) => {
      logger.warn({ err: error, webhookId }, 'a webhook will be sent later');
    },
  });
