import { expect, it } from '@jest/globals';
import { type DomainEvent, inOrganizationAsSystem } from '@muster/database';
import { useWorld } from '@muster/testing';
import { arrangeStories } from '../test/stories.ts';
import { deliveryHandlers, executionReactions } from './index.ts';

const world = useWorld(deliveryHandlers);
const actor = { kind: 'system', memberId: null, agentId: null, name: 'Spec' } as const;

it('what many executions hear at once locks them in the order of their ids', async () => {
  const { people, projectId, stories } = await arrangeStories(world, { count: 12 });
  for (const targetId of stories.toReversed())
    await people.chloe.deliveryExecutions.acquire({ targetType: 'story', targetId });
  const domainEvents = stories.map((id): DomainEvent => ({
    kind: 'story.updated',
    subject: { type: 'story', id, key: null, title: 'A story', projectId },
    data: { fields: ['title'] },
  }));
  const holder = await world.database.owner.connect();
  try {
    await holder.query('begin');
    await holder.query('select from executions where org_id = $1 order by id limit 1 for update', [
      people.orgId,
    ]);
    const hearing = inOrganizationAsSystem(world.database.app, people.orgId, async (db) => {
      await executionReactions({ db, orgId: people.orgId, actor, domainEvents });
    });
    await world.waiting(1);
    // It waits for the first, and so has locked none of the others.
    const { rows } = await holder.query(
      'select id from executions where org_id = $1 for update skip locked',
      [people.orgId],
    );
    expect(rows).toHaveLength(12);
    await holder.query('rollback');
    await hearing;
  } finally {
    holder.release();
  }
});
