import { beforeEach, describe, expect, it } from '@jest/globals';
import { type ObservationKind } from '@muster/registry';
import { type People, useWorld } from '@muster/testing';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);
let people: People;

beforeEach(async () => {
  ({ people } = await arrangeStories(world));
});

/** Acquires the work, and submits it with a pull request of this number. */
async function handIn(number: number): Promise<string> {
  const { deliveryExecutions: api } = people.chloe;
  const { execution, leaseToken } = await api.acquire({ targetType: 'story', targetId: 'WEB-1' });
  await api.complete({
    ...{ executionId: execution.id, leaseToken, outcome: 'submitted' },
    pullRequest: { number, url: `https://example.com/${number}` },
  });
  return execution.id;
}

async function observe(executionId: string, kind: ObservationKind, minute: number, number?: number) {
  const { execution } = await people.ana.deliveryExecutions.recordForgeObservation({
    executionId,
    observation: {
      ...{ dedupeKey: `${kind} ${minute}`, kind, observedAt: `2026-11-21T09:${minute}:00.000Z` },
      ...(number !== undefined && { number, url: `https://example.com/${number}` }),
    },
  });
  return [execution.state, execution.needsRework];
}

describe('a pull request that is closed', () => {
  it('gives back what was handed in, to be worked on again', async () => {
    const id = await handIn(3);
    expect(await observe(id, 'pr_closed', 10, 3)).toEqual(['available', true]);
    expect(await observe(id, 'checks_passed', 11)).toEqual(['available', true]);
    expect(await observe(id, 'pr_reopened', 12, 3)).toEqual(['available', false]);
  });

  it('gives back nothing that was handed in after it, whatever is seen next', async () => {
    const id = await handIn(3);
    await observe(id, 'pr_closed', 20, 3);
    await handIn(4);
    expect(await observe(id, 'checks_passed', 21)).toEqual(['submitted', false]);
    // The forge saw this earlier than the fact that is already known, although it arrives later.
    expect(await observe(id, 'pr_closed', 19, 3)).toEqual(['submitted', false]);
    expect(await observe(id, 'pr_closed', 22, 4)).toEqual(['available', true]);
  });
});

it('says nothing of the branch where a fact has nothing to say of it', async () => {
  const { deliveryExecutions: api } = people.chloe;
  const { execution } = await api.acquire({ targetType: 'story', targetId: 'WEB-1' });
  for (const kind of ['review_approved', 'merge_conflict', 'pr_opened'] as const) {
    const observation = { dedupeKey: kind, kind, observedAt: '2026-11-21T09:10:00.000Z' };
    const seen = await api.recordForgeObservation({ executionId: execution.id, observation });
    expect(seen).toMatchObject({ recorded: true, execution: { git: null } });
  }
});
