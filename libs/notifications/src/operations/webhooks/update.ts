import { type Db } from '@muster/driver';
import { isAuditKind } from '@muster/contract';
import { notificationsRegistry } from '@muster/notifications-registry';
import { type Caller, handle } from '@muster/runtime';
import { getOrganizationKey } from '@muster/tenancy';
import {
  getAuditStart,
  hostOnlyUrl,
  lockWebhook,
  requireAuditAllowed,
  toWebhook,
  type WebhookRow,
  webhooks,
  webhookSubject,
} from '../../data/webhooks.ts';
import { webhookSecretOwner } from '../../rules/webhook-secrets.ts';
import { requireAllowedUrl, type WebhooksConfig } from './set-up.ts';

/**
 * Returns the changes of an endpoint that starts or stops to receive audit entries. A creator who is no admin
 * is replaced by the caller, because entries are sent with the creator's rights.
 */
async function auditFollowingChanges(
  db: Db,
  { memberId, actor }: Caller,
  row: WebhookRow,
  kinds: readonly string[],
): Promise<Partial<WebhookRow>> {
  const follows = kinds.some(isAuditKind);
  if (follows === (row.audit_cursor_seq !== null)) return {};
  if (!follows) return { audit_cursor_seq: null };
  const { audit, isMakerAdmin } = await getAuditStart(db, row.maker_id);
  return { audit_cursor_seq: audit, ...(!isMakerAdmin && { maker_id: memberId, made_by: actor }) };
}

/** Returns the columns of a new URL of a chat service, which is stored as its secret; null if there is none. */
async function chatUrlChanges(
  { seals }: WebhooksConfig,
  db: Db,
  { id, format }: WebhookRow,
  url: string | undefined,
): Promise<Pick<WebhookRow, 'url' | 'secret'> | null> {
  if (format === 'standard' || url === undefined) return null;
  const owner = webhookSecretOwner(await getOrganizationKey(db), id);
  return { url: hostOnlyUrl(url), secret: seals.encrypt(owner, url) };
}

export const updateHandler = (config: WebhooksConfig) =>
  handle(
    notificationsRegistry.webhooks.update,
    async ({ params, caller, db, access, requireGround, emit }) => {
      const { webhookId, expectedVersion, order, ...wanted } = params;
      if (wanted.url !== undefined) requireAllowedUrl(config, wanted.url);
      const [{ at }, row] = await Promise.all([
        access(),
        lockWebhook({ db, caller, requireGround }, webhookId, expectedVersion),
      ]);
      const kinds = wanted.kinds ?? row.kinds;
      await requireAuditAllowed(requireGround, row.project_id, kinds, row.format);
      const following = await auditFollowingChanges(db, caller, row, kinds);
      const urlChanges = await chatUrlChanges(config, db, row, wanted.url);
      const { url = wanted.url, ...secret } = urlChanges ?? {};
      const change = webhooks.change(db, row, { ...wanted, url, sendOrder: order }, at, {
        ...following,
        ...secret,
      });
      const { fields } = change;
      // The new URL of a chat service may have the same host, which is all that the column shows.
      const isOnlySecret = urlChanges !== null && fields.length === 0;
      const changed = isOnlySecret ? webhooks.save(db, row, urlChanges, at) : change.changed;
      if (urlChanges !== null && !fields.includes('url')) fields.push('url');
      if (fields.length > 0)
        emit('webhook.updated', webhookSubject(changed), {
          fields: fields.map((field) => (field === 'sendOrder' ? 'order' : field)),
        });
      return { webhook: toWebhook(changed) };
    },
  );
