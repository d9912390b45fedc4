import { beforeEach, expect, it } from '@jest/globals';
import { type People, useWorld } from '@muster/testing';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);
let people: People;
let storyId: string | undefined;
let held: { executionId: string; leaseToken: string };

beforeEach(async () => {
  ({
    people,
    stories: [storyId],
  } = await arrangeStories(world));
  const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire({
    targetType: 'story',
    targetId: 'WEB-1',
    phase: 'planning',
  });
  held = { executionId: execution.id, leaseToken };
});

const code = { headSha: 'abcd', diffHash: 'one' };
const codeOf = async () =>
  (await world.rows<{ code: object }>('select code from stories where id = $1', storyId))[0]?.code;

it('leaves what is missing as it is, and clears what is null', async () => {
  const { deliveryExecutions: api } = people.chloe;
  const said = { phase: 'testing', progress: 40, git: { branch: 'login', ...code } } as const;
  await api.update({ ...held, ...said });
  expect((await api.update(held)).execution).toMatchObject(said);
  expect((await api.update({ ...held, phase: null })).execution).toMatchObject({ ...said, phase: null });
  expect((await api.update({ ...held, progress: null })).execution).toMatchObject({ progress: 0 });

  expect(await codeOf()).toMatchObject(code);
  expect((await api.update({ ...held, git: null })).execution.git).toBeNull();
  expect(await codeOf()).toMatchObject({ headSha: null, diffHash: null });
});

it('says in the stream what was cleared', async () => {
  const { deliveryExecutions: api } = people.chloe;
  await api.update({ ...held, phase: null, progress: null, git: null });
  const { items } = await api.eventsSince({ executionId: held.executionId, afterSeq: 1 });
  expect(items).toMatchObject([
    { kind: 'updated', data: { fields: ['phase', 'progress', 'git'], phase: null, progress: 0 } },
  ]);
});
