/** The customers' client with the real API: its features beyond plain calls. */
import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Client, followEvents, isRefusal, type LeaseHandle, withLease } from '@muster/client';
import { type AllHandlers } from '@muster/operations';
import { type People } from '@muster/testing';
import { useApi } from './api.ts';

const api = useApi();
let people: People<AllHandlers>;
let chloe: Client;
let ana: Client;

beforeEach(async () => {
  people = await api.org();
  ana = api.client(people.ana.me.token);
  chloe = api.client(people.chloe.me.token);
  await ana.projects.create({ key: 'WEB', name: 'Website' });
  await ana.stories.create({ projectId: 'WEB', title: 'Sign in', status: 'ready' });
});

const story = { targetType: 'story', targetId: 'WEB-1' } as const;

describe('a list', () => {
  it('is read item by item over all of its pages', async () => {
    for (const title of ['Two', 'Three', 'Four', 'Five'])
      await ana.stories.create({ projectId: 'WEB', title });
    const titles: string[] = [];
    for await (const { title } of ana.stories.list.all({ projectId: 'WEB', limit: 2 })) titles.push(title);
    expect(titles.toSorted()).toEqual(['Five', 'Four', 'Sign in', 'Three', 'Two']);
  });
});

describe('a lease that is kept', () => {
  const expiresAt = async (): Promise<string | undefined> =>
    (await ana.deliveryExecutions.getForTarget(story)).execution?.lease?.expiresAt;
  const renewal = async (first: string | undefined): Promise<void> => {
    while ((await expiresAt()) === first) await pause(20);
  };

  it('is renewed in the background, and let go of in the end', async () => {
    const answer = await withLease(chloe, { ...story, ttlSeconds: 5 }, async (lease) => {
      await renewal(lease.execution().lease?.expiresAt);
      await lease.checkpoint({ summary: 'Half' });
      return 'done';
    });
    expect(answer).toBe('done');
    const { execution } = await ana.deliveryExecutions.getForTarget(story);
    expect(execution).toMatchObject({ state: 'available', lease: null, checkpoint: { summary: 'Half' } });
  });

  it('is let go of when the work fails, and left as it is when the work ended it', async () => {
    const failure = new Error('out of disk');
    await expect(withLease(chloe, story, () => Promise.reject(failure))).rejects.toBe(failure);
    expect((await ana.deliveryExecutions.getForTarget(story)).execution?.state).toBe('available');
    await withLease(chloe, story, (lease) => lease.complete({ outcome: 'succeeded' }));
    expect((await ana.deliveryExecutions.getForTarget(story)).execution?.state).toBe('completed');
  });

  it('hands over what others did, also while nobody calls', async () => {
    const heard: string[] = [];
    const told = Promise.withResolvers<undefined>();
    await withLease(
      chloe,
      { ...story, ttlSeconds: 5 },
      async () => {
        await ana.comments.create({ storyId: 'WEB-1', body: 'Look here' });
        await told.promise;
      },
      {
        onSignal: ({ kind }) => {
          heard.push(kind);
          told.resolve(undefined);
        },
      },
    );
    expect(heard).toEqual(['new_comments']);
  });

  it('says when another has it, and does not take it from them', async () => {
    let lost: LeaseHandle | undefined;
    await withLease(chloe, story, async (lease) => {
      lost = lease;
      await ana.deliveryExecutions.acquire({ ...story, takeOver: true });
      const refused = await lease.checkpoint({ summary: 'Too late' }).catch((error: unknown) => error);
      expect(isRefusal(refused, 'stale_lease')).toBe(true);
    });
    expect(lost?.lost.aborted).toBe(true);
    const { execution } = await ana.deliveryExecutions.getForTarget(story);
    expect(execution?.lease?.holder.name).toBe('Ana');
  });
});

describe('whoever follows the events of an execution', () => {
  it('gets each once, in order, also those to come, until it has seen enough', async () => {
    const { execution, leaseToken } = await chloe.deliveryExecutions.acquire(story);
    const executionId = execution.id;
    const enough = new AbortController();
    const seen: [number, string][] = [];
    const following = (async () => {
      for await (const { seq, kind } of followEvents(ana, executionId, { signal: enough.signal })) {
        seen.push([seq, kind]);
        if (kind === 'released') enough.abort();
      }
    })();
    await chloe.deliveryExecutions.checkpoint({ executionId, leaseToken, summary: 'One' });
    await chloe.deliveryExecutions.checkpoint({ executionId, leaseToken, summary: 'Two' });
    await chloe.deliveryExecutions.release({ executionId, leaseToken });
    await following;
    expect(seen).toEqual([
      [1, 'acquired'],
      [2, 'checkpointed'],
      [3, 'checkpointed'],
      [4, 'released'],
    ]);
  });
});
