import { describe, expect, it } from '@jest/globals';
import { useWorld } from '@muster/testing';
import { acquire, acquireStory } from '../../../test/locks.ts';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers, internalHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);

describe('the end of all work in a project', () => {
  it('cancels what was open, frees leases and locks, and says who held what', async () => {
    const { people, stories } = await arrangeStories(world, { count: 3 });
    const { ana, chloe, robo, orgId } = people;
    const held = await acquireStory(robo, 'WEB-1');
    await acquire(robo, ['src/**'], { executionId: held.executionId });
    await acquire(chloe, ['docs/**']);
    const left = await acquireStory(chloe, 'WEB-2');
    await chloe.deliveryExecutions.release(left);
    const { group } = await chloe.deliveryGroups.create({
      projectId: 'WEB',
      name: 'Passkeys',
      storyIds: [stories[2] ?? ''],
    });
    await chloe.deliveryGroups.acquireLease({ groupId: group.id });

    const { json } = await world.call(ana, internalHandlers.endWork, { projectId: 'WEB' });
    expect(JSON.parse(json)).toEqual({ ended: 2 });

    expect(await world.rows(`select from leases where org_id = $1 and state = 'held'`, orgId)).toEqual([]);
    expect(await world.rows('select from locks where org_id = $1', orgId)).toEqual([]);
    const { items } = await ana.deliveryExecutions.eventsSince({ executionId: held.executionId });
    expect(items.at(-1)).toMatchObject({
      kind: 'completed',
      data: { outcome: 'canceled', reason: 'project deleted' },
    });
    await expect(robo.deliveryExecutions.renew(held)).rejects.toMatchObject({ reason: 'stale_lease' });
    const said = await world.rows<{ data: unknown }>(
      `select subject ->> 'key' as key, data from activity where org_id = $1 and kind = 'execution.completed' order by seq`,
      orgId,
    );
    const ended = { outcome: 'canceled', fromMemberId: null, fromAgentId: null };
    expect(said).toEqual([
      {
        key: 'WEB-1',
        data: {
          ...ended,
          executionId: held.executionId,
          fromMemberId: robo.me.memberId,
          fromAgentId: robo.me.agentId,
        },
      },
      { key: 'WEB-2', data: { ...ended, executionId: left.executionId } },
    ]);
  });

  it('touches no other project', async () => {
    const here = await arrangeStories(world);
    const there = await arrangeStories(world);
    await acquireStory(there.people.chloe, 'WEB-1');
    await world.call(here.people.ana, internalHandlers.endWork, { projectId: 'WEB' });
    expect(
      await world.rows(`select from leases where org_id = $1 and state = 'held'`, there.people.orgId),
    ).toHaveLength(1);
  });
});
