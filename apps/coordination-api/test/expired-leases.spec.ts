/**
 * Tests the notification that the holder of an expired lease gets when another member's work on a delivery
 * group ends that lease.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { type AllHandlers } from '@muster/operations';
import { type People } from '@muster/testing';
import { useApi } from './api.ts';
import { expireLeases } from './one-story.ts';

const api = useApi();
let people: People<AllHandlers>;
let ana: Client;
let ben: Client;
let chloe: Client;
let groupId: string;

beforeEach(async () => {
  people = await api.org();
  ({ ana, ben, chloe } = people);
  await ana.projects.create({ key: 'WEB', name: 'Web' });
  for (const title of ['Passkeys', 'Recovery', 'Sessions'])
    await ana.stories.create({ projectId: 'WEB', title, status: 'in_progress' });
  const stories = { projectId: 'WEB', name: 'Sign-in', storyIds: ['WEB-1', 'WEB-2'] };
  ({
    group: { id: groupId },
  } = await chloe.deliveryGroups.create(stories));
});

const workOn = async (who: Client, story: string | null) => {
  const target = {
    targetType: story === null ? 'delivery_group' : 'story',
    targetId: story ?? groupId,
  } as const;
  return { executionId: (await who.deliveryExecutions.acquire(target)).execution.id };
};

describe('the holder of a lease past its time', () => {
  const inboxOf = async (who: Client) =>
    (await who.notifications.list()).items.map(({ kind, title }) => `${kind}: ${title}`);

  it('is told when another coordinates the group', async () => {
    await chloe.deliveryGroups.acquireLease({ groupId });
    await expireLeases(api, people.orgId);
    await chloe.deliveryGroups.acquireLease({ groupId, runId: 'another of hers' });
    await expireLeases(api, people.orgId);
    expect(await inboxOf(chloe)).toEqual([]);
    await ben.deliveryGroups.acquireLease({ groupId });
    expect(await inboxOf(chloe)).toEqual(['lease_taken_over: Ben took over as coordinator of Sign-in']);
  });

  it('is told when the work on the group takes theirs out of the way', async () => {
    await workOn(chloe, 'WEB-1');
    await expireLeases(api, people.orgId);
    await workOn(ben, null);
    expect(await inboxOf(chloe)).toEqual(['lease_taken_over: Ben took over your work on WEB-1']);
    expect(await inboxOf(ben)).toEqual([]);
  });

  it('is told when their story comes to a group that another works on', async () => {
    const { executionId } = await workOn(chloe, 'WEB-3');
    await expireLeases(api, people.orgId);
    await workOn(ben, null);
    await ben.deliveryGroups.replaceStories({ groupId, storyIds: ['WEB-1', 'WEB-3'] });
    expect(await inboxOf(chloe)).toEqual(['lease_taken_over: Ben ended your expired lease on WEB-3']);
    const { items } = await ana.activity.list({ projectId: 'WEB', kinds: ['execution.superseded'] });
    expect(items).toMatchObject([
      { subject: { key: 'WEB-3' }, data: { executionId, live: false, joining: true } },
    ]);
  });
});
