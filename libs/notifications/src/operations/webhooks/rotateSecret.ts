import { newWebhookSecret } from '@muster/outbound';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { organizationKeyOf } from '../../data/event-cursors.ts';
import { aboutWebhook, lockWebhook, toWebhook, webhooks, withSecretAgain } from '../../data/webhooks.ts';
import { secretOwner } from '../../rules/webhook-secrets.ts';
import { type WebhooksSetUp } from './set-up.ts';

export const rotateSecretWith = (setUp: WebhooksSetUp) =>
  handle(
    registry.webhooks.rotateSecret,
    async ({ params, caller, db, access, requireGround, emit }) => {
      const { webhookId, overlapSeconds } = params;
      const [{ at }, row, organizationKey] = await Promise.all([
        access(),
        lockWebhook({ db, caller, requireGround }, webhookId),
        organizationKeyOf(db, caller.orgId),
      ]);
      const secret = newWebhookSecret();
      const rotated = webhooks.save(
        db,
        row,
        {
          secret: setUp.seals.seal(secretOwner(organizationKey, webhookId), secret),
          previous_secret: overlapSeconds === 0 ? null : row.secret,
          previous_until:
            overlapSeconds === 0 ? null : new Date(Date.parse(at) + overlapSeconds * 1_000).toISOString(),
        },
        at,
      );
      emit('webhook.updated', aboutWebhook(rotated), { fields: ['secret'] });
      return { webhook: toWebhook(rotated), secret };
    },
    {
      reissue: ({ db, caller }, kept) => withSecretAgain(db, caller, kept, setUp.seals),
    },
  );
