/** The life of a pull request, delivered in any order and as often as a forge likes: one end. */
import { beforeEach, expect, it } from '@jest/globals';
import { handlers, performable, reactions } from '@muster/operations';
import { type Actor } from '@muster/registry';
import { type People, useWorld } from '@muster/testing';
import fc from 'fast-check';
import { connect, type Connected, deliver } from './forge-deliveries.ts';
import {
  acmeApi,
  mergedEvent,
  pullEvent,
  type PullLife,
  pullUrl,
  pushEvent,
  reviewEvent,
  shaOf,
  suiteEvent,
} from './github-pull.ts';

const world = useWorld(Object.fromEntries(performable(handlers)), reactions);
const [a, b] = [shaOf('a'), shaOf('b')];
const life: PullLife = {
  ...{ repository: acmeApi, number: 7, branch: 'topic', base: 'main', title: 'Land it', body: null },
};
/** Pushed, opened, failed, pushed again, run again, approved, merged. */
const recorded = [
  pushEvent(life, a, 1),
  pullEvent(life, 'opened', a, 2),
  suiteEvent(life, a, { app: 1, conclusion: 'failure', seconds: 3 }),
  pushEvent(life, b, 5),
  pullEvent(life, 'synchronize', b, 6),
  suiteEvent(life, b, { app: 1, conclusion: 'failure', seconds: 8 }),
  suiteEvent(life, b, { app: 2, conclusion: 'success', seconds: 9 }),
  suiteEvent(life, b, { app: 1, conclusion: 'success', seconds: 9 }),
  reviewEvent(life, 'approved', b, 10),
  mergedEvent(life, b, 12),
];

let people: People;
let github: Connected;
beforeEach(async () => {
  people = await world.org({ policy: { requireMergeProof: true, mergeProof: 'verified' } });
  await people.ana.projects.create({ key: 'WEB', name: 'Web' });
  github = await connect(people, 'github');
  await people.ana.forges.repositories.link({
    ...{ projectId: 'WEB', connectionId: github.id, externalId: String(acmeApi.id) },
  });
});

/** What is known of the work at the end, without what each work has of its own. */
async function endOf(executionId: string, storyId: string): Promise<unknown> {
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

let works = 0;
/** Hands work in after so many of these were delivered, and delivers the rest. */
async function live(order: readonly number[], handedInAfter: number): Promise<unknown> {
  // A pull request of its own: what one work is told is no fact of another.
  works += 1;
  const number = 1_000 + works;
  const own = JSON.parse(
    JSON.stringify(recorded)
      .replaceAll(pullUrl(life), pullUrl({ ...life, number }))
      .replaceAll('"number":7', `"number":${number}`)
      .replaceAll('topic', `topic-${number}`)
      .replaceAll(a, number.toString(16).padStart(40, 'a'))
      .replaceAll(b, number.toString(16).padStart(40, 'b')),
  ) as typeof recorded;
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
  await people.chloe.deliveryExecutions.update({ ...held, git: { branch: `topic-${number}` } });
  const send = async (indexes: readonly number[]): Promise<void> => {
    for (const index of indexes) await deliver(world, people, github, own[index] ?? pushEvent(life, a, 1));
  };
  await send(order.slice(0, handedInAfter));
  // Of what is merged already its holder has heard, and completes it.
  const { git } = (await people.chloe.deliveryExecutions.get({ executionId: execution.id })).execution;
  await people.chloe.deliveryExecutions.complete({
    ...{ ...held, outcome: git?.pullRequest?.state === 'merged' ? 'succeeded' : 'submitted' },
    pullRequest: { number, url: pullUrl({ ...life, number }) },
  });
  await send(order.slice(handedInAfter));
  const text = JSON.stringify(await endOf(execution.id, story.id));
  return JSON.parse(
    text
      .replaceAll(`topic-${number}`, 'topic')
      .replaceAll(number.toString(16).padStart(40, 'a'), a)
      .replaceAll(number.toString(16).padStart(40, 'b'), b)
      .replaceAll(String(number), '7'),
  ) as unknown;
}

it('comes to one end in any order, with any of it delivered twice, and handed in at any time', async () => {
  const inOrder = recorded.map((_, index) => index);
  const end = await live(inOrder, 2);
  expect(end).toMatchObject({
    ...{ state: 'completed', outcome: 'succeeded', status: 'done', needsRework: false },
    git: { headSha: b, checks: 'passing', pullRequest: { state: 'merged' } },
  });
  const twice = [...inOrder, ...inOrder];
  const orders = fc.record({
    order: fc.shuffledSubarray(twice, { minLength: twice.length, maxLength: twice.length }),
    handedInAfter: fc.nat(twice.length),
  });
  await fc.assert(
    fc.asyncProperty(orders, async ({ order, handedInAfter }) => {
      expect(await live(order, handedInAfter)).toEqual(end);
    }),
    { numRuns: 40 },
  );
}, 120_000);

it('is told by the forge alone', async () => {
  await live(
    recorded.map((_, index) => index),
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
