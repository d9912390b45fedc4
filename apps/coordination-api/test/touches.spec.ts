/** The changed files of work are compared with touches of its stories, and touches are suggested. */
import { beforeEach, expect, it } from '@jest/globals';
import { internalHandlers } from '@muster/delivery';
import { handlers, reactions } from '@muster/operations';
import { type PeopleOf, useWorld } from '@muster/testing';

const world = useWorld({ ...handlers, insideHandlers: internalHandlers }, reactions);
let people: PeopleOf<typeof world>;

beforeEach(async () => {
  people = await world.org();
  await people.chloe.projects.create({ key: 'WEB', name: 'Web', visibility: 'org' });
});

interface Fields {
  readonly touches?: string[];
  readonly labels?: string[];
  readonly epicId?: string;
}
const createStory = async (fields: Fields = {}): Promise<string> => {
  const params = { projectId: 'WEB', title: 'Sign in', status: 'ready' as const, ...fields };
  return (await people.chloe.stories.create(params)).story.id;
};
const startWork = async (targetType: 'story' | 'delivery_group', targetId: string) => {
  const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire({ targetType, targetId });
  return { executionId: execution.id, leaseToken };
};
const touchesOf = async (storyId: string) =>
  (await people.dan.storyCollaboration.context({ storyId, include: ['touches'] })).touches;
/** Finishes a story whose work changed these files. */
const finishStory = async (fields: Fields, ...filesTouched: string[]): Promise<void> => {
  const storyId = await createStory(fields);
  const held = await startWork('story', storyId);
  await people.chloe.deliveryExecutions.checkpoint({ ...held, summary: 'Done', filesTouched });
  await people.chloe.deliveryExecutions.complete({ ...held, outcome: 'succeeded' });
  await people.chloe.stories.updateStatus({ storyId, status: 'done' });
};

it('shows the holder and reviewers the files that differ from touches', async () => {
  const storyId = await createStory({ touches: ['src/auth', 'docs/*.md'] });
  const held = await startWork('story', storyId);
  const check = { outside: ['src/board/card.ts'], untouched: ['docs/*.md'] };
  const saved = await people.chloe.deliveryExecutions.checkpoint({
    ...held,
    ...{ summary: 'Half', filesTouched: ['src/auth/login.ts', 'src/board/card.ts'] },
  });
  expect(saved.touches).toEqual(check);
  await people.chloe.deliveryExecutions.update({ ...held, git: { branch: 'topic' } });
  const submitted = await people.chloe.deliveryExecutions.complete({ ...held, outcome: 'submitted' });
  expect(submitted.touches).toEqual(check);
  expect(await touchesOf(storyId)).toEqual({ ...check, suggested: [] });
});

it('compares the work on a group with touches of all its stories', async () => {
  const [one, other] = [
    await createStory({ touches: ['src/auth'] }),
    await createStory({ touches: ['docs'] }),
  ];
  const { group } = await people.chloe.deliveryGroups.create({
    ...{ projectId: 'WEB', name: 'Sign-in', storyIds: [one, other] },
  });
  await people.chloe.deliveryGroups.update({ groupId: group.id, state: 'active' });
  const held = await startWork('delivery_group', group.id);
  const save = async () =>
    (
      await people.chloe.deliveryExecutions.checkpoint({
        ...{ ...held, summary: 'Half', filesTouched: ['src/auth/login.ts', 'src/board.ts'] },
      })
    ).touches;
  expect(await save()).toEqual({ outside: ['src/board.ts'], untouched: ['docs'] });
  await people.chloe.stories.update({ storyId: other, touches: [] });
  expect(await save()).toBeNull();
});

it('suggests files that merged stories with a common label or the same epic changed', async () => {
  const { epic } = await people.chloe.epics.create({ projectId: 'WEB', title: 'Accounts' });
  await finishStory({ labels: ['auth', 'ui'] }, 'src/auth/login.ts', 'src/auth/passkeys.ts');
  await finishStory({ labels: ['auth'] }, 'src/auth/passkeys.ts');
  await finishStory({ epicId: epic.id }, 'src/accounts.ts');
  await finishStory({ labels: ['billing'] }, 'src/billing.ts');
  const unfinished = await startWork('story', await createStory({ labels: ['auth'] }));
  await people.chloe.deliveryExecutions.checkpoint({
    ...{ ...unfinished, summary: 'Half', filesTouched: ['src/half.ts'] },
  });

  const storyId = await createStory({ labels: ['auth'], epicId: epic.id });
  const suggested = ['src/auth/passkeys.ts', 'src/accounts.ts', 'src/auth/login.ts'];
  expect(await touchesOf(storyId)).toEqual({ outside: [], untouched: [], suggested });
  expect((await people.chloe.stories.get({ storyId })).story.touches).toEqual([]);
  await people.chloe.stories.update({ storyId, touches: ['name:deploy'] });
  expect(await touchesOf(storyId)).toEqual({ outside: [], untouched: [], suggested });
  await people.chloe.stories.update({ storyId, touches: ['src/auth'] });
  expect(await touchesOf(storyId)).toMatchObject({ suggested: ['src/accounts.ts'] });
  await people.chloe.stories.updateStatus({ storyId, status: 'canceled' });
  expect(await touchesOf(storyId)).toMatchObject({ suggested: [] });
  expect(await touchesOf(await createStory())).toMatchObject({ suggested: [] });
});
