import { expect, it } from '@jest/globals';
import { useApi } from './api.ts';
import { createOrgWithStory } from './one-story.ts';

const api = useApi();

it('waits for nobody who is a member no more: a story that they were to unblock can begin', async () => {
  const { ana, ben, chloe } = await createOrgWithStory(api);
  const storyId = 'WEB-1';
  const readinessOf = async () =>
    (await chloe.storyCollaboration.context({ storyId, include: ['readiness'] })).readiness;
  const blocked = { kind: 'needs_input', note: 'Which?', unblockerMemberId: ben.me.memberId } as const;
  await chloe.stories.update({ storyId, blocked });
  expect((await readinessOf())?.reasons).toEqual(['blocked']);
  await ana.members.removeMember({ memberId: ben.me.memberId });
  expect(await readinessOf()).toMatchObject({ canStart: true, reasons: [] });
  // The question to the removed member stays visible.
  expect((await chloe.stories.get({ storyId })).story.blocked).toEqual(blocked);
});
