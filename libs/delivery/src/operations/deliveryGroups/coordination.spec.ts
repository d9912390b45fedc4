import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);

let people: PeopleOf<typeof world>;
let groupId: string;
beforeEach(async () => {
  ({ people } = await arrangeStories(world, { policy: { maxLeaseTtlSeconds: 3600 } }));
  const { group } = await people.chloe.deliveryGroups.create({
    projectId: 'WEB',
    name: 'Sign-in',
    storyIds: ['WEB-1', 'WEB-2'],
  });
  groupId = group.id;
});

const acquire = (who: PersonOf<typeof world>, more: { ttlSeconds?: number; runId?: string } = {}) =>
  who.deliveryGroups.acquireLease({ groupId, ...more });
const expire = () =>
  world.rows(`update leases set expires_at = now() - interval '1 s' where org_id = $1`, people.orgId);
const stale = { status: 409, reason: 'stale_lease' };

describe('the lease on coordinating a group', () => {
  it('is granted to the first, and tells the second who has it', async () => {
    const { group, leaseToken, signals } = await acquire(people.chloe, { ttlSeconds: 86_400 });
    expect(group.lease).toMatchObject({ epoch: 1, ttlSeconds: 3600, holder: { name: 'Chloé' }, runId: null });
    expect([leaseToken.startsWith('lse_1_'), signals, group.version]).toEqual([true, [], 1]);
    expect((await people.dan.deliveryGroups.get({ groupId })).group.lease).toEqual(group.lease);
    await expect(acquire(people.robo)).rejects.toMatchObject({
      body: {
        details: { reason: 'lease_held', holder: { name: 'Chloé' }, targetId: groupId, retryable: false },
      },
    });
    await expect(acquire(people.chloe, { runId: 'another' })).rejects.toMatchObject({
      reason: 'lease_held',
    });
  });

  it('gives its holder a fresh token under the same epoch, and the one before is stale', async () => {
    const first = await acquire(people.chloe);
    const second = await acquire(people.chloe);
    expect(second.group.lease?.epoch).toBe(1);
    await expect(
      people.chloe.deliveryGroups.renewLease({ groupId, leaseToken: first.leaseToken }),
    ).rejects.toMatchObject({ ...stale, body: { details: { currentEpoch: 1 } } });
    const { group } = await people.chloe.deliveryGroups.renewLease({
      groupId,
      leaseToken: second.leaseToken,
      ttlSeconds: 60,
    });
    expect(group.lease?.ttlSeconds).toBe(60);
  });

  it('is let go once, however often that is said, and then granted anew', async () => {
    const { leaseToken } = await acquire(people.chloe);
    const held = { groupId, leaseToken };
    expect((await people.chloe.deliveryGroups.releaseLease(held)).group.lease).toBeNull();
    expect((await people.chloe.deliveryGroups.releaseLease(held)).group.lease).toBeNull();
    await expect(people.chloe.deliveryGroups.renewLease(held)).rejects.toMatchObject(stale);
    expect((await acquire(people.robo)).group.lease?.epoch).toBe(2);
    await people.chloe.deliveryGroups.releaseLease(held);
    expect((await people.dan.deliveryGroups.get({ groupId })).group.lease?.epoch).toBe(2);
  });

  it('counts past its time until another has it, and then no more', async () => {
    const { leaseToken } = await acquire(people.chloe);
    await expire();
    const late = { groupId, leaseToken, summary: 'Late, and kept' };
    await people.chloe.deliveryGroups.checkpoint(late);
    await expire();
    const { group } = await acquire(people.robo);
    expect(group).toMatchObject({ lease: { epoch: 2 }, checkpoint: { summary: 'Late, and kept' } });
    await expect(
      people.chloe.deliveryGroups.checkpoint({ ...late, summary: 'Too late' }),
    ).rejects.toMatchObject({ ...stale, body: { details: { currentEpoch: 2 } } });
    expect((await people.dan.deliveryGroups.get({ groupId })).group.checkpoint).toMatchObject({ seq: 1 });
  });

  it("is of no use to anybody with a made-up token, or with another's", async () => {
    const { leaseToken } = await acquire(people.chloe);
    for (const [who, token] of [
      [people.ben, leaseToken],
      [people.chloe, `lse_1_${'0'.repeat(32)}`],
      [people.chloe, 'x'],
    ] as const) {
      await expect(who.deliveryGroups.renewLease({ groupId, leaseToken: token })).rejects.toMatchObject(
        stale,
      );
    }
  });

  it('lets exactly one of many in', async () => {
    const outcomes = await world.runUnderContention(
      { table: 'delivery_groups', id: groupId },
      ...[people.ana, people.ben, people.chloe, people.robo].map((person) => () => acquire(person)),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
    ]);
  });

  it('keeps nobody from working on the group or its stories', async () => {
    await acquire(people.chloe);
    const { deliveryExecutions } = people.ben;
    await deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-1' });
    await deliveryExecutions.acquire({ targetType: 'delivery_group', targetId: groupId });
  });

  it('ends with the group, and is not to be had after', async () => {
    const { leaseToken } = await acquire(people.chloe);
    const { group } = await people.ben.deliveryGroups.update({ groupId, state: 'abandoned' });
    expect(group.lease).toBeNull();
    await expect(people.chloe.deliveryGroups.renewLease({ groupId, leaseToken })).rejects.toMatchObject(
      stale,
    );
    await expect(acquire(people.chloe)).rejects.toMatchObject({ reason: 'invalid_transition' });
  });

  it('is repeated with an Idempotency-Key by a token that is good, and none is kept', async () => {
    const handler = deliveryHandlers.deliveryGroups.acquireLease;
    const ask = async (idempotencyKey: string) =>
      JSON.parse((await world.call(people.chloe, handler, { groupId }, { idempotencyKey })).json) as Awaited<
        ReturnType<typeof acquire>
      >;
    const key = newId();
    const [first, second] = [await ask(key), await ask(key)];
    expect(second).toEqual({ ...first, leaseToken: expect.any(String) });
    const renew = ({ leaseToken }: typeof first) =>
      people.chloe.deliveryGroups.renewLease({ groupId, leaseToken });
    await renew(second);
    await expect(renew(first)).rejects.toMatchObject(stale);
  });
});

describe('deliveryGroups.checkpoint', () => {
  it('counts, and is refused where another seq was read', async () => {
    const { leaseToken } = await acquire(people.chloe);
    const write = (summary: string, expectedSeq?: number) =>
      people.chloe.deliveryGroups.checkpoint({
        groupId,
        leaseToken,
        summary,
        ...(expectedSeq !== undefined && { expectedSeq }),
      });
    expect((await write('One', 0)).group.checkpoint).toMatchObject({ seq: 1, summary: 'One', data: null });
    expect((await write('Two', 1)).group).toMatchObject({ checkpoint: { seq: 2 }, version: 3 });
    await expect(write('Three', 1)).rejects.toMatchObject({
      reason: 'version_mismatch',
      body: { details: { currentVersion: 2 } },
    });
  });
});
