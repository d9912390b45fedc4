import { newWebhookSecret } from '@muster/outbound';
import { notificationsRegistry } from '@muster/notifications-registry';
import { badRequest, handle } from '@muster/runtime';
import { getCachedOrganizationKey } from '../../data/event-cursors.ts';
import { webhookSubject, lockWebhook, toWebhook, webhooks, withStoredSecret } from '../../data/webhooks.ts';
import { webhookSecretOwner } from '../../rules/webhook-secrets.ts';
import { type WebhooksConfig } from './set-up.ts';

export const rotateSecretHandler = (config: WebhooksConfig) =>
  handle(
    notificationsRegistry.webhooks.rotateSecret,
    async ({ params, caller, db, access, requireGround, emit }) => {
      const { webhookId, overlapSeconds } = params;
      const [{ at }, row, organizationKey] = await Promise.all([
        access(),
        lockWebhook({ db, caller, requireGround }, webhookId),
        getCachedOrganizationKey(db, caller.orgId),
      ]);
      if (row.format !== 'standard')
        throw badRequest('A webhook of a chat service has no signing secret.', [
          {
            path: 'webhookId',
            message: 'must be a webhook with the format standard; change the URL instead',
          },
        ]);
      const secret = newWebhookSecret();
      const rotated = webhooks.save(
        db,
        row,
        {
          secret: config.seals.encrypt(webhookSecretOwner(organizationKey, webhookId), secret),
          previous_secret: overlapSeconds === 0 ? null : row.secret,
          previous_until:
            overlapSeconds === 0 ? null : new Date(Date.parse(at) + overlapSeconds * 1_000).toISOString(),
        },
        at,
      );
      emit('webhook.updated', webhookSubject(rotated), { fields: ['secret'] });
      return { webhook: toWebhook(rotated), secret };
    },
    {
      reissueSecret: ({ db, caller }, kept) => withStoredSecret(db, caller, kept, config.seals),
    },
  );
