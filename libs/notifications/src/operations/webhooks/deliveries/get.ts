import { notificationsRegistry } from '@muster/notifications-registry';
import { handle } from '@muster/runtime';
import { readAuditEntries } from '../../../data/audit.ts';
import { getEventCursors } from '../../../data/event-cursors.ts';
import {
  type DeliveryRow,
  getEventOfDelivery,
  getDelivery,
  toDelivery,
} from '../../../data/webhook-deliveries.ts';
import { getWebhook, requireAuditAllowed } from '../../../data/webhooks.ts';
import { auditMessageOf, eventMessage, testMessage } from '../../../rules/webhook-message.ts';
import { type WebhooksConfig } from '../set-up.ts';

export const getDeliveryHandler = ({ subjectUrl, consoleUrl }: WebhooksConfig) =>
  handle(notificationsRegistry.webhooks.deliveries.get, async ({ params, caller, db, requireGround }) => {
    const row = await getDelivery(db, params.deliveryId);
    const webhook = await getWebhook({ db, caller, requireGround }, row.webhook_id);
    const { format } = webhook;
    const bodyOf = async ({
      seq,
      activity_seq: place,
      audit_seq: auditPlace,
    }: DeliveryRow): Promise<string> => {
      if (seq !== null && auditPlace !== null) {
        await requireAuditAllowed(requireGround, webhook.project_id, [row.kind]);
        const entries = await readAuditEntries(db, [{ seq: auditPlace, at: row.event_at }]);
        return auditMessageOf(entries.get(auditPlace), { orgId: caller.orgId, seq, at: row.event_at });
      }
      if (seq === null || place === null) return testMessage(row.event_at, webhook.id, format);
      const [event, cursors] = await Promise.all([
        getEventOfDelivery(db, row),
        getEventCursors(db, caller.orgId),
      ]);
      return eventMessage(
        event,
        { seq, cursor: cursors.encode(place) },
        {
          ...{ format, subjectUrl, consoleUrl },
        },
      );
    };
    return {
      delivery: {
        ...toDelivery(row),
        request: { url: webhook.url, body: await bodyOf(row) },
        answer: row.answer,
      },
    };
  });
