import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { webhookSubject, lockWebhook, toWebhook, webhooks } from '../../data/webhooks.ts';
import { requireAllowedUrl, type WebhooksConfig } from './set-up.ts';

export const updateHandler = (config: WebhooksConfig) =>
  handle(registry.webhooks.update, async ({ params, caller, db, access, requireGround, emit }) => {
    const { webhookId, expectedVersion, order, ...wanted } = params;
    if (wanted.url !== undefined) requireAllowedUrl(config, wanted.url);
    const [{ at }, row] = await Promise.all([
      access(),
      lockWebhook({ db, caller, requireGround }, webhookId, expectedVersion),
    ]);
    const { changed, fields } = webhooks.change(db, row, { ...wanted, sendOrder: order }, at);
    if (fields.length > 0)
      emit('webhook.updated', webhookSubject(changed), {
        fields: fields.map((field) => (field === 'sendOrder' ? 'order' : field)),
      });
    return { webhook: toWebhook(changed) };
  });
