/**
 * A merge that is observed while a lease is held: the holder gets a signal, and the work ends when the lease
 * is released.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { handlers, reactions } from '@muster/operations';
import { type Policy } from '@muster/contract';
import { type PeopleOf, useWorld } from '@muster/testing';

const world = useWorld(handlers, reactions);

let people: PeopleOf<typeof world>;
let held: { executionId: string; leaseToken: string };

async function begin(policy: Partial<Policy> = {}): Promise<void> {
  people = await world.org();
  const { project } = await people.ana.projects.create({ key: 'WEB', name: 'Web' });
  await people.ana.policy.update(policy);
  const { story } = await people.ana.stories.create({ projectId: project.id, title: 'Land it' });
  const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: story.id },
    start: true,
  });
  held = { executionId: execution.id, leaseToken };
  const seen = await people.ana.deliveryExecutions.recordForgeObservation({
    executionId: held.executionId,
    observation: {
      dedupeKey: 'merge',
      kind: 'pr_merged',
      observedAt: '2026-11-21T09:30:00.000Z',
      ...pullRequestOf(7),
    },
  });
  expect(seen.execution.state).toBe('leased');
}
const pullRequestOf = (number: number) => ({ number, url: `https://example.com/pull/${number}` });
const handIn = (number: number) =>
  people.chloe.deliveryExecutions.complete({
    ...held,
    outcome: 'submitted',
    pullRequest: pullRequestOf(number),
  });
const release = () => people.chloe.deliveryExecutions.release(held);
const endedExecution = { state: 'completed', outcome: 'succeeded', lease: null };

describe('a merge that was seen while the work was held', () => {
  beforeEach(() => begin());

  it('completes what is handed in, as one that is seen afterwards does', async () => {
    const { execution } = await handIn(7);
    expect(execution).toMatchObject(endedExecution);
    const { executionId } = held;
    expect(await people.dan.deliveryExecutions.get({ executionId })).toEqual({ execution });
    const { items } = await people.dan.deliveryExecutions.eventsSince({ executionId });
    const told = items.map(({ kind }) => kind).filter((kind) => kind !== 'story_changed');
    expect(told).toEqual(['acquired', 'forge', 'submitted', 'completed']);
    expect(await handIn(7)).toEqual({ execution, touches: null });
  });

  it('completes what is given back', async () => {
    const { execution } = await release();
    expect(execution).toMatchObject(endedExecution);
    expect(await release()).toEqual({ execution });
  });

  it('completes nothing that is handed in with another pull request', async () => {
    expect((await handIn(8)).execution).toMatchObject({ state: 'submitted', outcome: 'submitted' });
  });
});

it('completes nothing where the policy asks for the word of the forge itself', async () => {
  await begin({ requireMergeProof: true, mergeProof: 'verified' });
  expect((await handIn(7)).execution).toMatchObject({ state: 'submitted', outcome: 'submitted' });
});

it('completes nothing that is given back where the policy asks for it only since', async () => {
  await begin();
  await people.ana.policy.update({ requireMergeProof: true, mergeProof: 'verified' });
  expect((await release()).execution).toMatchObject({ state: 'available', outcome: null });
});
