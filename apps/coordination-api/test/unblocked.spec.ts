/** Resolving the last open blocker emits an event for the blocked story and notifies its assignee. */
import { beforeEach, expect, it } from '@jest/globals';
import { internalBoardHandlers } from '@muster/board';
import { internalHandlers } from '@muster/delivery';
import { handlers, reactions } from '@muster/operations';
import { type EventReaction } from '@muster/runtime';
import { type PeopleOf, useWorld } from '@muster/testing';

/** Counts attempts. The server repeats a transaction that loses a deadlock, so only this count shows it. */
let attempts = 0;
const countAttempts: EventReaction = async () => {
  attempts += 1;
};
const world = useWorld(
  { ...handlers, insideBoard: internalBoardHandlers, insideHandlers: internalHandlers },
  [countAttempts, ...reactions],
);
let people: PeopleOf<typeof world>;

const createStory = async (blockedBy: string[] = []) =>
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
  const blockers = [await createStory(), await createStory(), await createStory()];
  const [done, canceled, deleted] = blockers.map(({ id }) => id);
  const story = await createStory(blockers.map(({ id }) => id));
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
  const blocker = await createStory();
  const story = await createStory([blocker.id]);
  await move(blocker.id, 'done');
  await move(blocker.id, 'ready');
  await move(blocker.id, 'canceled');
  await people.chloe.stories.delete({ storyId: blocker.id });
  expect(await unblocked()).toEqual([story.key, story.key]);
});

it('does not come for a story that is over', async () => {
  const blocker = await createStory();
  const story = await createStory([blocker.id]);
  await move(story.id, 'canceled');
  await move(blocker.id, 'done');
  expect(await unblocked()).toEqual([]);
});

it('comes once when the last two end at the same time', async () => {
  const [one, other] = [await createStory(), await createStory()];
  const story = await createStory([one.id, other.id]);
  // Both transactions have checked for open blockers, or wait for the other's lock, before either can commit.
  const streams = { table: 'streams', id: people.orgId, column: 'org_id' };
  const calls = [one, other].map(
    ({ id }) =>
      () =>
        move(id, 'done'),
  );
  const outcomes = await world.runUnderContention(streams, ...calls);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  expect(await unblocked()).toEqual([story.key]);
});

const statuses = (outcomes: readonly PromiseSettledResult<unknown>[]): string[] =>
  outcomes.map(({ status }) => status);

it('comes for both of two stories whose blockers end at the same time, 30 times over, without a deadlock', async () => {
  await people.ana.policy.update({ requireMergeProof: true, mergeProof: 'verified' });
  const seen = {
    ...({ kind: 'pr_merged', number: 7, url: 'https://example.com/pull/7' } as const),
    observedAt: '2026-11-21T09:30:00.000Z',
  };
  const begin = async (projectId: string) => {
    const { story } = await people.chloe.stories.create({ projectId, title: 'Land', status: 'in_progress' });
    const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: story.id },
    });
    const report = (dedupeKey: string) =>
      people.chloe.deliveryExecutions.recordForgeObservation({
        ...{ executionId: execution.id, observation: { ...seen, dedupeKey } },
      });
    await report('before reports counted');
    return { storyId: story.id, held: { executionId: execution.id, leaseToken }, report };
  };
  const rounds = Array.from({ length: 30 }, (_, index) => index);
  const pairs = await Promise.all(
    rounds.map(async (index) => {
      const key = `R${index}X`;
      await people.chloe.projects.create({ key, name: key, visibility: 'org' });
      const [one, other] = [await begin(key), await begin(key)];
      const blockedBy = [one.storyId, other.storyId];
      const waiting = await Promise.all(
        [blockedBy, blockedBy.toReversed()].map((ids) =>
          people.chloe.stories.create({ projectId: key, title: 'Waits', status: 'ready', blockedBy: ids }),
        ),
      );
      return { index, one, other, waiting: waiting.map(({ story }) => story.key) };
    }),
  );
  await people.ana.policy.update({ mergeProof: 'reported' });
  attempts = 0;
  const outcomes = await Promise.allSettled(
    pairs.flatMap(({ index, one, other }) => [
      people.chloe.deliveryExecutions.complete({ ...one.held, outcome: 'succeeded' }),
      index % 2 === 0 ? other.report('now') : move(other.storyId, 'canceled'),
    ]),
  );
  expect(statuses(outcomes)).toEqual(outcomes.map(() => 'fulfilled'));
  expect(attempts).toBe(outcomes.length);
  const { items } = await people.ana.activity.list({ kinds: ['story.unblocked'], limit: 200 });
  expect(items.map(({ subject }) => subject.key).toSorted()).toEqual(
    pairs.flatMap(({ waiting }) => waiting).toSorted(),
  );
});

it('comes without a deadlock where a blocker is deleted while a story that it blocks is done', async () => {
  const deleted = (
    await people.chloe.stories.create({ projectId: 'WEB', title: 'Dropped', status: 'backlog' })
  ).story;
  const done = await createStory([deleted.id]);
  const last = await createStory([deleted.id, done.id]);
  const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: done.id },
  });
  const held = { executionId: execution.id, leaseToken };
  await people.chloe.deliveryExecutions.update({ ...held, git: { branch: 'topic' } });
  await people.chloe.deliveryExecutions.complete({ ...held, outcome: 'submitted' });
  attempts = 0;
  // One transaction holds the story's lock and waits for the execution; the other waits for the story.
  const outcomes = await world.runUnderContention<unknown>(
    { table: 'executions', id: execution.id },
    () => move(done.id, 'done'),
    () => people.chloe.stories.delete({ storyId: deleted.id }),
  );
  expect(statuses(outcomes)).toEqual(['fulfilled', 'fulfilled']);
  expect(attempts).toBe(2);
  expect(await unblocked()).toEqual([last.key]);
});
