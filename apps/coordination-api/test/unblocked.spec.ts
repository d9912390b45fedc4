/** The end of the last open blocker is an event of the story that waited for it, and notifies its assignee. */
import { beforeEach, expect, it } from '@jest/globals';
import { insideBoard } from '@muster/board';
import { insideHandlers } from '@muster/delivery';
import { handlers, reactions } from '@muster/operations';
import { type People, useWorld } from '@muster/testing';

const world = useWorld({ ...handlers, insideBoard, insideHandlers }, reactions);
let people: People;

const make = async (blockedBy: string[] = []) =>
  (await people.chloe.stories.create({ projectId: 'WEB', title: 'Passkeys', status: 'ready', blockedBy }))
    .story;
const move = (storyId: string, status: 'done' | 'canceled' | 'ready') =>
  people.chloe.stories.updateStatus({ storyId, status });
const unblocked = async () =>
  (await people.ana.activity.list({ kinds: ['story.unblocked'] })).items.map(({ subject }) => subject.key);

beforeEach(async () => {
  people = await world.org();
  await people.chloe.projects.create({ key: 'WEB', name: 'Web', visibility: 'org' });
});

it('comes with the last of them, done, canceled or deleted', async () => {
  const blockers = [await make(), await make(), await make()];
  const [done, canceled, deleted] = blockers.map(({ id }) => id);
  const story = await make(blockers.map(({ id }) => id));
  await people.chloe.assignments.set({
    ...{ targetType: 'story', targetId: story.id, memberId: people.ben.me.memberId, agentId: null },
  });
  await move(done ?? '', 'done');
  await move(canceled ?? '', 'canceled');
  expect(await unblocked()).toEqual([]);
  await people.chloe.stories.delete({ storyId: deleted ?? '' });
  expect(await unblocked()).toEqual([story.key]);
  const { items } = await people.ben.notifications.list({ kinds: ['unblocked'] });
  expect(items).toMatchObject([
    { kind: 'unblocked', title: `${story.key} is no longer blocked`, subject: { key: story.key } },
  ]);
});

it('comes again after a blocker was reopened, and not for the end of one that was over', async () => {
  const blocker = await make();
  const story = await make([blocker.id]);
  await move(blocker.id, 'done');
  await move(blocker.id, 'ready');
  await move(blocker.id, 'canceled');
  await people.chloe.stories.delete({ storyId: blocker.id });
  expect(await unblocked()).toEqual([story.key, story.key]);
});

it('does not come for a story that is over', async () => {
  const blocker = await make();
  const story = await make([blocker.id]);
  await move(story.id, 'canceled');
  await move(blocker.id, 'done');
  expect(await unblocked()).toEqual([]);
});

it('comes once when the last two end at the same time', async () => {
  const [one, other] = [await make(), await make()];
  const story = await make([one.id, other.id]);
  // Both have looked for open blockers, or wait for the other to, before either can commit.
  const streams = { table: 'streams', id: people.orgId, column: 'org_id' };
  const calls = [one, other].map(
    ({ id }) =>
      () =>
        move(id, 'done'),
  );
  const outcomes = await world.contend(streams, ...calls);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  expect(await unblocked()).toEqual([story.key]);
});
