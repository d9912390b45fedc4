import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);
let people: PeopleOf<typeof world>;

beforeEach(async () => {
  ({ people } = await arrangeStories(world));
});

async function acquire() {
  const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire({
    targetType: 'story',
    targetId: 'WEB-1',
  });
  return { executionId: execution.id, leaseToken };
}
const staleLeaseRefusal = { status: 409, reason: 'stale_lease' };
const pullRequest = { number: 3, url: 'https://example.com/3' };

describe('a token that ended its lease', () => {
  it('may say again what ended it, and hears the same', async () => {
    const { deliveryExecutions: api } = people.chloe;
    const held = await acquire();
    const handIn = { ...held, outcome: 'submitted', pullRequest } as const;
    expect(await api.complete(handIn)).toEqual(await api.complete(handIn));
  });

  it('may not say that the work ended otherwise', async () => {
    const { deliveryExecutions: api } = people.chloe;
    const held = await acquire();
    const { execution } = await api.complete({ ...held, outcome: 'submitted', pullRequest });
    for (const outcome of ['succeeded', 'failed', 'canceled'] as const)
      await expect(api.complete({ ...held, outcome })).rejects.toMatchObject(staleLeaseRefusal);
    expect(await api.get({ executionId: held.executionId })).toEqual({ execution });
  });

  it('may not offer the work to another than before', async () => {
    const { deliveryExecutions: api } = people.chloe;
    const held = await acquire();
    await api.checkpoint({ ...held, summary: 'Half' });
    const offer = { ...held, toMemberId: people.ben.me.memberId };
    const { execution } = await api.handoff(offer);
    expect(await api.handoff(offer)).toEqual({ execution });
    await expect(api.handoff({ ...held, toMemberId: people.ana.me.memberId })).rejects.toMatchObject(
      staleLeaseRefusal,
    );
    expect(await api.get({ executionId: held.executionId })).toEqual({ execution });
  });
});

it.each(['toMemberId', 'toAgentId'] as const)(
  'work that is offered to no one that there is stays, and %s is named',
  async (path) => {
    const { deliveryExecutions: api } = people.chloe;
    const held = await acquire();
    await api.checkpoint({ ...held, summary: 'Half' });
    const offer = { ...held, [path]: newId() };
    await expect(api.handoff(offer)).rejects.toMatchObject({ status: 404, body: { details: { path } } });
    await api.renew(held);
  },
);
