/** Writes the webhook of WEB that the examples name, with a delivered test. */
import { type Makers, type Person } from '@muster/testing/world';

const webhookIds = {
  webhook: '01936d5c-0000-7000-8000-000000000080',
  delivery: '01936d5c-0000-7000-8000-000000000081',
} as const;

interface WebhookExampleSetUp {
  readonly orgId: string;
  readonly ana: Person;
  readonly projectId: string;
  readonly author: string;
  readonly idOf: (exampleId: string) => string;
}

export async function arrangeWebhooks(
  { rows }: Makers,
  { orgId, ana, projectId, author, idOf }: WebhookExampleSetUp,
): Promise<{ webhook: string; webhookDelivery: string }> {
  const webhook = idOf(webhookIds.webhook);
  const webhookDelivery = idOf(webhookIds.delivery);
  // The secret of this webhook cannot be decrypted, so no message can be sent to it. Specs of deliveries
  // create their own webhooks.
  await rows(
    `insert into webhooks (org_id, id, project_id, url, kinds, send_order, secret, maker_id, made_by, cursor_seq)
     values ($1, $2, $3, 'https://hooks.acme.example/all', '{story.created}', 'parallel', '', $4, $5, 0)`,
    orgId,
    webhook,
    projectId,
    ana.me.memberId,
    author,
  );
  await rows(
    `insert into webhook_deliveries (org_id, webhook_id, id, event_at, event_id, kind, state, done_at)
     values ($1, $2, $3, now(), $3, 'webhook.test', 'delivered', now())`,
    orgId,
    webhook,
    webhookDelivery,
  );
  return { webhook, webhookDelivery };
}
