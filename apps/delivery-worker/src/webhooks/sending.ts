/** Creates the webhook runner of this process. Each attempt is counted and logged. */
import { type Pool } from '@muster/driver';
import { type WebhooksSetUp } from '@muster/notifications';
import { reactions } from '@muster/operations';
import { createSender } from '@muster/outbound/sender';
import { type Logger } from 'pino';
import { type CountTotal } from '../counters.ts';
import { createRunner, outcomeOf, type Runner } from './runner.ts';

export const createSending = (
  pool: Pool,
  webhooks: WebhooksSetUp,
  count: CountTotal,
  logger: Logger,
): Runner =>
  createRunner({
    pool,
    sender: createSender({ networks: webhooks.networks }),
    setUp: { ...webhooks, reactions },
    onTried: (orgId, webhookId, sent) => {
      const outcome = outcomeOf(sent);
      count(outcome);
      const { status, ms, error } = sent.tried;
      logger.info({ orgId, webhookId, outcome, status, durationMs: ms, error }, 'webhook');
    },
    onFault: (error, webhookId) => {
      logger.warn({ err: error, webhookId }, 'a webhook will be sent later');
    },
  });
