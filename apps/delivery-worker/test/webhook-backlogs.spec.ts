/** Webhooks that fall behind: paused ones, and ones that are slower than their organization's activity. */
import { describe, expect, it } from '@jest/globals';
import { waitUntil } from '@muster/testing';
import { numbersUpTo, useWebhooks } from './webhook-world.ts';

const hooks = useWebhooks();

interface QueuePosition {
  readonly cursor_seq: number;
  readonly worker_epoch: number;
  readonly stands: number;
}

const queuePositionOf = async (webhookId: string): Promise<QueuePosition> => {
  const [place] = await hooks.world.rows<QueuePosition>(
    `select w.cursor_seq::int, w.worker_epoch::int, s.activity::int as stands
     from webhooks w join streams s on s.org_id = w.org_id where w.id = $1`,
    webhookId,
  );
  if (place === undefined) throw new Error('the webhook is gone');
  return place;
};
const hasNoBacklog = async (webhookId: string): Promise<boolean> => {
  const { cursor_seq: cursor, stands } = await queuePositionOf(webhookId);
  return cursor === stands;
};

/** Inserts `count` events with one statement, with the same effect as transactions that wrote them. */
const createEvents = (count: number): Promise<unknown> =>
  hooks.world.rows(
    `with s as (update streams set activity = activity + $2 where org_id = $1 returning activity)
     insert into activity (org_id, seq, id, kind, actor, subject, data, at)
     select $1, s.activity - $2 + n, gen_random_uuid(), 'story.updated', '{"kind": "system", "name": "Muster"}',
       jsonb_build_object('type', 'story', 'id', gen_random_uuid(), 'key', null, 'title', 'Story'), '{"fields": ["title"]}', now()
     from s, generate_series(1, $2::int) n`,
    hooks.people.orgId,
    count,
  );

describe('what a webhook is not to hear of', () => {
  it('passes it by without a turn, and nothing that comes after', async () => {
    await hooks.people.ana.projects.create({ key: 'API', name: 'Api', visibility: 'org' });
    const { webhook: ofOtherKinds } = await hooks.createWebhook({ kinds: ['comment.created'] });
    const { webhook: ofOtherProject } = await hooks.createWebhook({ projectId: 'API' });
    hooks.startWorker();
    await hooks.createStories(3);
    for (const { id } of [ofOtherKinds, ofOtherProject]) {
      await waitUntil(() => hasNoBacklog(id));
      expect((await queuePositionOf(id)).worker_epoch).toBe(0);
    }
    await hooks.createStories(1, 'API');
    await hooks.waitForArrivals(1);
    expect(hooks.receiver.received[0]?.body.data).toMatchObject({ seq: 1, subject: { key: 'API-1' } });
    const { items } = await hooks.people.ana.stories.list({ projectId: 'API' });
    await hooks.people.ana.comments.create({ storyId: items[0]?.id ?? '', body: 'Heard.' });
    await hooks.waitForArrivals(2);
    expect(hooks.receiver.received[1]).toMatchObject({ seq: 1, type: 'comment.created' });
  });
});

describe('more than can be sent', () => {
  /** Counts the waiting deliveries, and returns whether any is due. */
  const waiting = async (webhookId: string) => {
    const [found] = await hooks.world.rows<{ count: number; due: boolean; full: boolean }>(
      `select count(*)::int as count, coalesce(bool_or(d.next_at <= now()), false) as due,
         (select w.is_full from webhooks w where w.id = $1) as full
       from webhook_deliveries d where d.webhook_id = $1 and d.state = 'pending'`,
      webhookId,
    );
    return found;
  };

  /** Makes the next attempts of tried deliveries due. */
  const bringForward = (webhookId: string): Promise<unknown> =>
    hooks.world.rows(
      `with d as (update webhook_deliveries set next_at = now()
         where webhook_id = $1 and state = 'pending' and next_at > now() returning webhook_id)
       update webhooks set next_at = now() where id in (select webhook_id from d)`,
      webhookId,
    );

  it.each([
    // In strict order, the waiting deliveries are blocked by the first one. While they wait, the worker takes
    // no further events from the activity.
    ['strict', 500],
    ['parallel', 1_000],
  ] as const)('waits in the activity (%s), and comes whole later', async (order, most) => {
    const { webhook } = await hooks.createWebhook({ order, kinds: ['story.updated'] });
    hooks.receiver.answer(503);
    hooks.startWorker();
    // Waits until the webhook's position in the activity has passed the event of its own creation.
    await waitUntil(() => hasNoBacklog(webhook.id));
    await createEvents(1_200);
    await waitUntil(async () => {
      const found = await waiting(webhook.id);
      return found?.count === most && found.full && (order === 'strict' || !found.due);
    });
    hooks.receiver.answer(204);
    hooks.receiver.received.length = 0;
    await waitUntil(async () => {
      await bringForward(webhook.id);
      return hooks.receiver.received.length >= 1_200;
    });
    const seqs = hooks.seqs();
    expect(order === 'strict' ? seqs : seqs.toSorted((a, b) => a - b)).toEqual(numbersUpTo(1_200));
  });
});
