import { notificationsRegistry } from '@muster/notifications-registry';
import { handle } from '@muster/runtime';
import { lockDelivery, rescheduleDelivery, toDelivery } from '../../../data/webhook-deliveries.ts';
import { lockWebhookOfDelivery, makeWebhookDue } from '../../../data/webhooks.ts';

export const redeliver = handle(
  notificationsRegistry.webhooks.deliveries.redeliver,
  async ({ params, caller, db, access, requireGround }) => {
    const { deliveryId } = params;
    const [{ at }, webhook] = await Promise.all([
      access(),
      lockWebhookOfDelivery({ db, caller, requireGround }, deliveryId),
    ]);
    const row = await lockDelivery(db, deliveryId);
    // Tests are sent even if the endpoint is paused.
    const waits = webhook.paused_at !== null && row.seq !== null;
    db.deferToCommit(rescheduleDelivery(row.id, waits));
    db.deferToCommit(makeWebhookDue(webhook.id));
    return {
      delivery: toDelivery({ ...row, state: 'pending', done_at: null, next_at: waits ? null : at }),
    };
  },
);
