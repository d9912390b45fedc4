import { notificationsRegistry } from '@muster/notifications-registry';
import { handle } from '@muster/runtime';
import {
  countPendingTests,
  insertDelivery,
  maxPendingTests,
  newTestDelivery,
  toDelivery,
} from '../../data/webhook-deliveries.ts';
import { lockWebhook, makeWebhookDue } from '../../data/webhooks.ts';

export const test = handle(
  notificationsRegistry.webhooks.test,
  async ({ params, caller, db, access, requireGround, refuse }) => {
    const { webhookId } = params;
    const [{ at }, , waiting] = await Promise.all([
      access(),
      lockWebhook({ db, caller, requireGround }, webhookId),
      countPendingTests(db, webhookId),
    ]);
    if (waiting >= maxPendingTests) throw refuse('limit_exceeded', { limit: maxPendingTests });
    const row = newTestDelivery(webhookId, at);
    db.deferToCommit(insertDelivery(row));
    db.deferToCommit(makeWebhookDue(webhookId));
    return { delivery: toDelivery(row) };
  },
);
