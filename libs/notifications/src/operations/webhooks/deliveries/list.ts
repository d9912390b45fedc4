import { notificationsRegistry } from '@muster/notifications-registry';
import { handle } from '@muster/runtime';
import { listDeliveries } from '../../../data/webhook-deliveries.ts';
import { getWebhook } from '../../../data/webhooks.ts';

export const list = handle(
  notificationsRegistry.webhooks.deliveries.list,
  async ({ params, caller, db, requireGround }) => {
    const [page] = await Promise.all([
      listDeliveries(db, params),
      getWebhook({ db, caller, requireGround }, params.webhookId),
    ]);
    return page;
  },
);
