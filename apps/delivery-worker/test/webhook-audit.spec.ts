/** Webhooks that send audit entries, and ones that subscribe by patterns. */
import { describe, expect, it } from '@jest/globals';
import { createPool } from '@muster/driver';
import { skipUnsubscribedEvents } from '@muster/notifications';
import { type AuditEntry, OcsfApiActivity } from '@muster/contract';
import { inOrganizationAsSystem } from '@muster/tenancy';
import { waitUntil, withTestTimeouts } from '@muster/testing';
import { type Received, verify } from './receiver.ts';
import { numbersUpTo, useWebhooks } from './webhook-world.ts';

const hooks = useWebhooks();

/** Returns the audit entries from that of the webhook's creation on, oldest first. */
async function auditSince(webhookId: string): Promise<AuditEntry[]> {
  const all = await Array.fromAsync(hooks.people.ana.audit.list.all({}));
  const created = all.findLastIndex(({ target }) => target === webhookId);
  return all.slice(0, created + 1).reverse();
}
const entryIds = (received: readonly Received[]) =>
  received.map(({ body }) => (body.data['metadata'] as { uid: string }).uid);

describe('a webhook for audit.*', () => {
  it('sends every audit entry in OCSF, in order and without gaps, refusals too', async () => {
    const { webhook, secret } = await hooks.createWebhook({ kinds: ['audit.*'], order: 'strict' });
    hooks.startWorker();
    await hooks.createStories(3);
    await expect(
      hooks.people.chloe.webhooks.create({ url: hooks.receiver.url, kinds: ['story.*'] }),
    ).rejects.toMatchObject({ status: 403 });
    const entries = await auditSince(webhook.id);
    expect(entries).toHaveLength(5);
    await hooks.waitForArrivals(5);

    expect(hooks.seqs()).toEqual(numbersUpTo(5));
    expect(entryIds(hooks.receiver.received)).toEqual(entries.map(({ id }) => id));
    expect(hooks.receiver.received.map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
    const last = hooks.receiver.received.at(-1) as Received;
    expect(verify(secret, last)).toEqual(last.body);
    const entry = entries.at(-1) as AuditEntry;
    const { seq, ...event } = last.body.data;
    expect(OcsfApiActivity.strict().parse(event)).toEqual(event);
    expect(last.body).toMatchObject({ type: 'audit.denied', timestamp: entry.at });
    expect({ seq, ...event }).toMatchObject({
      ...{ seq: 5, category_uid: 6, class_uid: 6003, activity_id: 1, type_uid: 600_301 },
      ...{ time: Date.parse(entry.at), severity_id: 2, status_id: 2, status_code: 'role' },
      metadata: { version: '1.8.0', uid: entry.id, tenant_uid: hooks.people.orgId, sequence: 5 },
      actor: { user: { uid: hooks.people.chloe.me.memberId, name: 'Chloé', credential_uid: entry.tokenId } },
      api: { operation: 'webhooks.create', request: { uid: entry.requestId } },
    });
  });

  it('sends only refusals for audit.denied, and events in addition if their kinds are named', async () => {
    await hooks.createWebhook({ kinds: ['audit.denied', 'story.*'] });
    hooks.startWorker();
    await hooks.createStories(2);
    await expect(hooks.people.chloe.audit.list({})).rejects.toMatchObject({ status: 403 });
    await expect(
      hooks.people.chloe.webhooks.create({ url: hooks.receiver.url, kinds: ['story.*'] }),
    ).rejects.toMatchObject({ status: 403 });
    await hooks.waitForArrivals(3);
    const kinds = hooks.receiver.received.map(({ type }) => type);
    expect(kinds.toSorted()).toEqual(['audit.denied', 'story.created', 'story.created']);
    expect(hooks.seqs().toSorted()).toEqual(numbersUpTo(3));
  });

  it('is sent an entry that comes without any event, once it was at rest', async () => {
    const { webhook } = await hooks.createWebhook({ kinds: ['audit.*'] });
    hooks.startWorker();
    const isAtRest = async (): Promise<boolean> =>
      (
        await hooks.world.rows(
          `select from webhooks w join streams s using (org_id)
             where w.id = $1 and w.audit_cursor_seq = s.audit and w.next_at is null and w.worker_until is null`,
          webhook.id,
        )
      ).length === 1;
    await waitUntil(isAtRest);
    await expect(
      hooks.people.chloe.webhooks.create({ url: hooks.receiver.url, kinds: ['story.*'] }),
    ).rejects.toMatchObject({ status: 403 });
    await hooks.waitForArrivals(2);
    expect(hooks.receiver.received.map(({ type }) => type)).toEqual(['audit.allowed', 'audit.denied']);
    await waitUntil(isAtRest);
  });

  it('is not passed over with events of other kinds while audit entries wait', async () => {
    const { webhook } = await hooks.createWebhook({ kinds: ['audit.*'] });
    const { webhook: other } = await hooks.createWebhook({ kinds: ['comment.created'] });
    await hooks.createStories(1);
    await hooks.world.rows('update webhooks set next_at = null');
    const { database } = hooks.world;
    const pool = withTestTimeouts(
      createPool({ url: database.url, role: 'muster_app', name: 'webhooks', max: 1 }),
    );
    try {
      const passed = await inOrganizationAsSystem(pool, hooks.people.orgId, (db) =>
        db.all(skipUnsubscribedEvents([webhook.id, other.id])),
      );
      expect(passed).toEqual([{ id: other.id }]);
    } finally {
      await pool.end();
    }
  });

  it('is paused when its creator is no longer an admin; the one who resumes it gets all that was missed', async () => {
    const { ana, ben } = hooks.people;
    const { webhook } = await hooks.createWebhook({ kinds: ['audit.*'], order: 'strict' }, ben);
    hooks.startWorker();
    await hooks.waitForArrivals(1);
    await ana.members.setRole({ memberId: ben.me.memberId, role: 'member' });
    await waitUntil(async () => (await hooks.stateOf(webhook.id)).pausedReason === 'maker_left');
    await hooks.createStories(2);
    expect(hooks.receiver.received).toHaveLength(1);
    const resumed = await ana.webhooks.resume({ webhookId: webhook.id });
    expect(resumed.webhook.madeBy.memberId).toBe(ana.me.memberId);
    const entries = await auditSince(webhook.id);
    await hooks.waitForArrivals(entries.length);
    expect(entryIds(hooks.receiver.received)).toEqual(entries.map(({ id }) => id));
  });

  it('can begin and end with a change of the kinds', async () => {
    const { ana } = hooks.people;
    const { webhook } = await hooks.createWebhook({ kinds: ['comment.created'] });
    await hooks.createStories(1);
    await ana.webhooks.update({ webhookId: webhook.id, kinds: ['audit.allowed'] });
    await hooks.createStories(1, 'WEB', 2);
    hooks.startWorker();
    await hooks.waitForArrivals(2);
    const operations = hooks.receiver.received.map(
      ({ body }) => (body.data['api'] as { operation: string }).operation,
    );
    expect(operations.toSorted()).toEqual(['stories.create', 'webhooks.update']);
    await ana.webhooks.update({ webhookId: webhook.id, kinds: ['story.*'] });
    await hooks.createStories(1, 'WEB', 3);
    await waitUntil(async () => hooks.receiver.received.some(({ type }) => type === 'story.created'));
    expect(hooks.receiver.received).toHaveLength(3);
  });

  it('shows what was sent, and a withheld message once the entry is no longer kept', async () => {
    const { ana } = hooks.people;
    const { webhook } = await hooks.createWebhook({ kinds: ['audit.*'] });
    hooks.startWorker();
    await hooks.delivered(webhook.id, 1);
    const [delivery] = (await ana.webhooks.deliveries.list({ webhookId: webhook.id })).items;
    expect(delivery).toMatchObject({ kind: 'audit.allowed', seq: 1 });
    const deliveryId = delivery?.id ?? '';
    const { request } = (await ana.webhooks.deliveries.get({ deliveryId })).delivery;
    expect(request.body).toBe(hooks.receiver.received[0]?.text);
    await hooks.world.rows('delete from audit where id = $1', delivery?.eventId);
    await ana.webhooks.deliveries.redeliver({ deliveryId });
    await waitUntil(async () => hooks.receiver.received.some(({ type }) => type === 'webhook.withheld'));
    const withheld = hooks.receiver.received.find(({ type }) => type === 'webhook.withheld');
    expect(withheld?.body.data).toEqual({ seq: 1 });
    const { delivery: again } = await ana.webhooks.deliveries.get({ deliveryId });
    expect(JSON.parse(again.request.body)).toEqual(withheld?.body);
  });
});

it('story.* covers every kind of story events, and nothing else', async () => {
  await hooks.createWebhook({ kinds: ['story.*', 'comment.created'], order: 'strict' });
  hooks.startWorker();
  await hooks.createStories(1);
  const { ana } = hooks.people;
  await ana.stories.update({ storyId: 'WEB-1', title: 'Renamed' });
  await ana.epics.create({ projectId: 'WEB', title: 'Epic' });
  await ana.comments.create({ storyId: 'WEB-1', body: 'Read.' });
  await hooks.waitForArrivals(3);
  expect(hooks.receiver.received.map(({ type }) => type)).toEqual([
    'story.created',
    'story.updated',
    'comment.created',
  ]);
});
