/**
 * Tests work on a delivery group when a story leaves the group. The story may have the open question that the
 * work waits for.
 */
import { beforeEach, expect, it } from '@jest/globals';
import { handlers, reactions } from '@muster/operations';
import { type PeopleOf, useWorld } from '@muster/testing';

const world = useWorld(handlers, reactions);

let people: PeopleOf<typeof world>;
let openQuestion: { storyId: string; questionId: string };
let groupId: string;
let held: { executionId: string; leaseToken: string };

beforeEach(async () => {
  people = await world.org();
  const { ana, chloe } = people;
  await ana.projects.create({ key: 'WEB', name: 'Web' });
  const { story } = await ana.stories.create({ projectId: 'WEB', title: 'Passkeys' });
  await ana.stories.create({ projectId: 'WEB', title: 'Recovery' });
  const { group } = await ana.deliveryGroups.create({
    ...{ projectId: 'WEB', name: 'Sign-in', storyIds: ['WEB-1', 'WEB-2'] },
  });
  groupId = group.id;
  const { execution, leaseToken } = await chloe.deliveryExecutions.acquire({
    ...{ targetType: 'delivery_group', targetId: groupId },
  });
  held = { executionId: execution.id, leaseToken };
  const { comment } = await chloe.comments.create({ storyId: 'WEB-1', body: 'Which?', kind: 'question' });
  openQuestion = { storyId: story.id, questionId: comment.id };
  const waitingFor = { questionId: comment.id };
  const { execution: waiting } = await chloe.deliveryExecutions.update({ ...held, waitingFor });
  expect(waiting.state).toBe('waiting_input');
});

const goesOn = async (data: Record<string, unknown>) => {
  const { execution, signals } = await people.chloe.deliveryExecutions.renew(held);
  expect(execution).toMatchObject({ state: 'leased', waitingFor: null });
  expect(signals.slice(-1)).toMatchObject([
    { kind: 'question_answered', data: { commentId: openQuestion.questionId, ...data } },
  ]);
};

it('goes on where the story is deleted, and its question with it', async () => {
  await people.ana.stories.delete({ storyId: openQuestion.storyId });
  await goesOn({ deleted: true });
});

it('waits on where another story is deleted, and hears of it, as the coordinator does', async () => {
  const { ana, ben, chloe } = people;
  const { leaseToken } = await ben.deliveryGroups.acquireLease({ groupId });
  const { story } = await ana.stories.get({ storyId: 'WEB-2' });
  await ana.stories.delete({ storyId: story.id });
  const left = { kind: 'story_changed', data: { added: [], removed: [story.id] } };
  const { execution, signals } = await chloe.deliveryExecutions.renew(held);
  expect([execution.state, signals]).toMatchObject(['waiting_input', [left]]);
  const { group, signals: told } = await ben.deliveryGroups.renewLease({ groupId, leaseToken });
  expect([group.storyIds, told]).toMatchObject([[openQuestion.storyId], [left]]);
});

it('hears the answer where the story has left the group', async () => {
  await people.chloe.deliveryGroups.replaceStories({ groupId, storyIds: ['WEB-2'] });
  await people.ana.comments.create({
    ...{ storyId: 'WEB-1', parentId: openQuestion.questionId, body: 'The second.' },
  });
  await people.ana.comments.resolve({ commentId: openQuestion.questionId });
  await goesOn({ question: 'Which?', answer: expect.objectContaining({ body: 'The second.' }) });
});
