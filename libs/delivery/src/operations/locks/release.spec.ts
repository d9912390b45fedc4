import { beforeEach, describe, expect, it } from '@jest/globals';
import { type PeopleOf, useWorld } from '@muster/testing';
import { acquire, listLocks } from '../../../test/locks.ts';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);

let people: PeopleOf<typeof world>;
beforeEach(async () => {
  ({ people } = await arrangeStories(world));
});

describe('locks.release', () => {
  it('is for the holder, whatever the run, and for leads; and happens once', async () => {
    const { lock } = await acquire(people.chloe, ['a'], { runId: 'r1' });
    const eve = await world.member(people.orgId, 'Eve', 'member');
    for (const who of [eve, people.robo]) {
      await expect(who.locks.release({ lockId: lock.id })).rejects.toMatchObject({ status: 403 });
    }
    expect(await people.chloe.locks.release({ lockId: lock.id })).toEqual({ deleted: true });
    await expect(people.chloe.locks.release({ lockId: lock.id })).rejects.toMatchObject({ status: 404 });
    const { lock: again } = await acquire(people.chloe, ['a']);
    await people.ben.locks.release({ lockId: again.id });
    expect(await listLocks(people.dan)).toEqual([]);
  });

  it('is for a holder who only looks on by now', async () => {
    const { lock } = await acquire(people.chloe, ['a']);
    const { orgId, chloe, dan } = people;
    await world.rows(
      `update members set role = 'viewer' where org_id = $1 and id = $2`,
      orgId,
      chloe.me.memberId,
    );
    await expect(dan.locks.release({ lockId: lock.id })).rejects.toMatchObject({ reason: 'not_the_holder' });
    expect(await chloe.locks.release({ lockId: lock.id })).toEqual({ deleted: true });
  });
});
