/**
 * Tests that work on a story and work on its delivery group exclude each other, even if the work is only
 * offered.
 */
import { beforeEach, expect, it } from '@jest/globals';
import { handlers, reactions } from '@muster/operations';
import { type ExecutionTarget } from '@muster/contract';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';

const world = useWorld(handlers, reactions);

interface Target {
  readonly targetType: ExecutionTarget;
  readonly targetId: string;
}
let people: PeopleOf<typeof world>;
let story: Target;
let group: Target;

beforeEach(async () => {
  people = await world.org();
  const { project } = await people.ana.projects.create({ key: 'WEB', name: 'Web' });
  const { story: made } = await people.ana.stories.create({ projectId: project.id, title: 'Passkeys' });
  const { group: formed } = await people.ana.deliveryGroups.create({
    ...{ projectId: project.id, name: 'Sign-in', storyIds: [made.id] },
  });
  story = { targetType: 'story', targetId: made.id };
  group = { targetType: 'delivery_group', targetId: formed.id };
});

const acquire = (who: PersonOf<typeof world>, target: Target) => who.deliveryExecutions.acquire(target);
async function offer(target: Target, to: PersonOf<typeof world>): Promise<void> {
  const { execution, leaseToken } = await acquire(people.chloe, target);
  const held = { executionId: execution.id, leaseToken };
  await people.chloe.deliveryExecutions.checkpoint({ ...held, summary: 'Half' });
  await people.chloe.deliveryExecutions.handoff({ ...held, toMemberId: to.me.memberId });
}

it.each([
  ['a group that is offered reserves its stories', () => [group, story] as const],
  ['a story that is offered reserves its group', () => [story, group] as const],
])('%s for the addressee', async (_, targets) => {
  const [offered, other] = targets();
  await offer(offered, people.ben);
  await expect(acquire(people.chloe, other)).rejects.toMatchObject({
    status: 409,
    reason: 'reserved',
    body: { details: { offer: { toMemberId: people.ben.me.memberId }, retryable: true } },
  });
  expect((await acquire(people.ben, other)).execution.state).toBe('leased');
  expect((await acquire(people.ben, offered)).execution.state).toBe('leased');
});
