import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutWebhook, lockWebhook, toWebhook, webhooks } from '../../data/webhooks.ts';
import { requireUrl, type WebhooksSetUp } from './set-up.ts';

export const updateWith = (setUp: WebhooksSetUp) =>
  handle(registry.webhooks.update, async ({ params, caller, db, access, requireGround, emit }) => {
    const { webhookId, expectedVersion, order, ...wanted } = params;
    if (wanted.url !== undefined) requireUrl(setUp, wanted.url);
    const [{ at }, row] = await Promise.all([
      access(),
      lockWebhook({ db, caller, requireGround }, webhookId, expectedVersion),
    ]);
    const { changed, fields } = webhooks.change(db, row, { ...wanted, sendOrder: order }, at);
    if (fields.length > 0)
      emit('webhook.updated', aboutWebhook(changed), {
        fields: fields.map((field) => (field === 'sendOrder' ? 'order' : field)),
      });
    return { webhook: toWebhook(changed) };
  });
