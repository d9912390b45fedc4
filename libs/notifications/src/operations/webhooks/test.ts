import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import {
  countTests,
  insertDelivery,
  mostTests,
  testDelivery,
  toDelivery,
} from '../../data/webhook-deliveries.ts';
import { lockWebhook, wake } from '../../data/webhooks.ts';

export const test = handle(
  registry.webhooks.test,
  async ({ params, caller, db, access, requireGround, refuse }) => {
    const { webhookId } = params;
    const [{ at }, , waiting] = await Promise.all([
      access(),
      lockWebhook({ db, caller, requireGround }, webhookId),
      countTests(db, webhookId),
    ]);
    if (waiting >= mostTests) throw refuse('limit_exceeded', { limit: mostTests });
    const row = testDelivery(webhookId, at);
    db.later(insertDelivery(row));
    db.later(wake(webhookId));
    return { delivery: toDelivery(row) };
  },
);
