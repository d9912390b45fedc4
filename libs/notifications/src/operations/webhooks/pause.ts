import { notificationsRegistry } from '@muster/notifications-registry';
import { handle } from '@muster/runtime';
import { webhookSubject, lockWebhook, toWebhook, webhooks } from '../../data/webhooks.ts';

export const pause = handle(
  notificationsRegistry.webhooks.pause,
  async ({ params, caller, db, access, requireGround, emit }) => {
    const [{ at }, row] = await Promise.all([
      access(),
      lockWebhook({ db, caller, requireGround }, params.webhookId),
    ]);
    if (row.paused_at !== null) return { webhook: toWebhook(row) };
    const paused = webhooks.save(db, row, { paused_at: at, paused_reason: 'asked' }, at);
    emit('webhook.paused', webhookSubject(row), { reason: 'asked', makerId: row.maker_id });
    return { webhook: toWebhook(paused) };
  },
);
