import { notificationsRegistry } from '@muster/notifications-registry';
import { handle } from '@muster/runtime';
import { webhookSubject, deleteWebhook, lockWebhook } from '../../data/webhooks.ts';

export const deleteOperation = handle(
  notificationsRegistry.webhooks.delete,
  async ({ params, caller, db, requireGround, emit }) => {
    const row = await lockWebhook({ db, caller, requireGround }, params.webhookId);
    db.deferToCommit(deleteWebhook(row.id));
    emit('webhook.deleted', webhookSubject(row), {});
    return { deleted: true as const };
  },
);
