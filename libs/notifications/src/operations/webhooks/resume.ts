import { notificationsRegistry } from '@muster/notifications-registry';
import { handle } from '@muster/runtime';
import { reschedulePendingDeliveries } from '../../data/webhook-deliveries.ts';
import {
  webhookSubject,
  isMakerEntitled,
  lockWebhook,
  toWebhook,
  makeWebhookDue,
  webhooks,
} from '../../data/webhooks.ts';

export const resume = handle(
  notificationsRegistry.webhooks.resume,
  async ({ params, caller, db, access, requireGround, emit }) => {
    const [{ at }, row] = await Promise.all([
      access(),
      lockWebhook({ db, caller, requireGround }, params.webhookId),
    ]);
    if (row.paused_at === null) return { webhook: toWebhook(row) };
    const maker = (await isMakerEntitled(db, row.id))
      ? {}
      : { maker_id: caller.memberId, made_by: caller.actor };
    const resumed = webhooks.save(
      db,
      row,
      { paused_at: null, paused_reason: null, failing: 0, ...maker },
      at,
    );
    db.deferToCommit(reschedulePendingDeliveries(row.id));
    db.deferToCommit(makeWebhookDue(row.id));
    emit('webhook.resumed', webhookSubject(row), {});
    return { webhook: toWebhook(resumed) };
  },
);
