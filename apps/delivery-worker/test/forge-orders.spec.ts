/** A pull request's deliveries in any order and with any repetition lead to the same result. */
import { beforeEach, expect, it } from '@jest/globals';
import { handlers, reactions, withInternalHandlers } from '@muster/operations';
import { type Actor } from '@muster/contract';
import { type PeopleOf, useWorld } from '@muster/testing';
import fc from 'fast-check';
import { type ForgeWithSecret, deliver, withGithub } from './forge-deliveries.ts';
import { acmeRepository, type PullRequestExample, pullUrl, lifecycleEvents } from '@muster/testing/github';

const world = useWorld(withInternalHandlers(handlers), reactions);

let people: PeopleOf<typeof world>;
let github: ForgeWithSecret;
beforeEach(async () => {
  ({ people, github } = await withGithub(world, { externalId: String(acmeRepository.id) }));
});

/** Returns the final state of the work, without values that are unique to it. */
async function finalStateOf(executionId: string, storyId: string): Promise<unknown> {
  const [row] = await world.rows<{ forge: Record<string, { kind: string; at: string; sha: string | null }> }>(
    'select forge from executions where org_id = $1 and id = $2',
    people.orgId,
    executionId,
  );
  const { execution } = await people.ana.deliveryExecutions.get({ executionId });
  const { story } = await people.ana.stories.get({ storyId });
  const { state, outcome, needsRework, git } = execution;
  return { forge: row?.forge, state, outcome, needsRework, git, status: story.status };
}

let workCount = 0;
const shaOf = (letter: 'a' | 'b', number: number): string => number.toString(16).padStart(40, letter);
const events = lifecycleEvents(
  { repository: acmeRepository, number: 1, branch: '', base: '', title: '', body: null },
  '',
  '',
);

/** Submits work after this many of the deliveries, and then sends the rest. */
async function playLifecycle(order: readonly number[], handedInAfter: number): Promise<unknown> {
  // Each execution has its own pull request, because a fact about a pull request applies to only one
  // execution.
  workCount += 1;
  const number = 1_000 + workCount;
  const life: PullRequestExample = {
    ...{ repository: acmeRepository, number, branch: `topic-${number}`, base: 'main' },
    ...{ title: 'Land it', body: null },
  };
  const own = lifecycleEvents(life, shaOf('a', number), shaOf('b', number));
  const { story } = await people.ana.stories.create({
    projectId: 'WEB',
    title: 'Land',
    status: 'in_progress',
  });
  const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: story.id },
    runId: `run ${number}`,
  });
  const held = { executionId: execution.id, leaseToken };
  await people.chloe.deliveryExecutions.update({ ...held, git: { branch: life.branch } });
  const send = async (indexes: readonly number[]): Promise<void> => {
    for (const event of indexes.flatMap((index) => own[index] ?? []))
      await deliver(world, people, github, event);
  };
  await send(order.slice(0, handedInAfter));
  // If the pull request is already merged, the holder has received a signal and completes the work instead of
  // submitting it.
  const { git } = (await people.chloe.deliveryExecutions.get({ executionId: execution.id })).execution;
  await people.chloe.deliveryExecutions.complete({
    ...{ ...held, outcome: git?.pullRequest?.state === 'merged' ? 'succeeded' : 'submitted' },
    pullRequest: { number, url: pullUrl(life) },
  });
  await send(order.slice(handedInAfter));
  const text = JSON.stringify(await finalStateOf(execution.id, story.id));
  return JSON.parse(
    text
      .replaceAll(`topic-${number}`, 'topic')
      .replaceAll(shaOf('a', number), 'a')
      .replaceAll(shaOf('b', number), 'b')
      .replaceAll(String(number), '7'),
  ) as unknown;
}

it('comes to one end in any order, with any of it delivered twice, and handed in at any time', async () => {
  const inOrder = events.map((_, index) => index);
  const end = await playLifecycle(inOrder, 2);
  expect(end).toMatchObject({
    ...{ state: 'completed', outcome: 'succeeded', status: 'done', needsRework: false },
    git: { headSha: 'b', checks: 'passing', pullRequest: { state: 'merged' } },
  });
  const twice = [...inOrder, ...inOrder];
  const orders = fc.record({
    order: fc.shuffledSubarray(twice, { minLength: twice.length, maxLength: twice.length }),
    handedInAfter: fc.nat(twice.length),
  });
  await fc.assert(
    fc.asyncProperty(orders, async ({ order, handedInAfter }) => {
      expect(await playLifecycle(order, handedInAfter)).toEqual(end);
    }),
    { numRuns: 40 },
  );
}, 120_000);

it('is told by the forge alone', async () => {
  await playLifecycle(
    events.map((_, index) => index),
    2,
  );
  const actors = await world.rows<{ by: Actor; trust: string }>(
    'select recorded_by as by, trust from forge_observations where org_id = $1',
    people.orgId,
  );
  expect(new Set(actors.map(({ by, trust }) => `${by.kind} ${by.name} ${trust}`))).toEqual(
    new Set(['system GitHub verified']),
  );
});
