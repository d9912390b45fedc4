import { notificationsRegistry } from '@muster/notifications-registry';
import { handle } from '@muster/runtime';
import { getWebhook, toWebhook } from '../../data/webhooks.ts';

export const get = handle(
  notificationsRegistry.webhooks.get,
  async ({ params, caller, db, requireGround }) => ({
    webhook: toWebhook(await getWebhook({ db, caller, requireGround }, params.webhookId)),
  }),
);
