import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Lock } from '@muster/contract';
import { type PeopleOf, useWorld } from '@muster/testing';
import { acquire, conflictsOf, listLocks, passTime, acquireStory } from '../../../test/locks.ts';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);

let people: PeopleOf<typeof world>;
beforeEach(async () => {
  ({ people } = await arrangeStories(world));
});

const story = { targetType: 'story', targetId: 'WEB-1' } as const;
const onlyLock = async (): Promise<Lock | undefined> => (await listLocks(people.dan))[0];
const secondsBetween = (from: string | undefined, to: string | undefined): number =>
  (Date.parse(to ?? '') - Date.parse(from ?? '')) / 1000;
const advanceTime = (passed: number): Promise<void> => passTime(world, people.orgId, passed);

describe('a lock that goes with work', () => {
  it('lasts as long as the lease from the start, whatever was asked for and the policy gives others', async () => {
    ({ people } = await arrangeStories(world, { policy: { maxLockTtlSeconds: 60 } }));
    const { execution } = await people.chloe.deliveryExecutions.acquire({ ...story, ttlSeconds: 3_600 });
    const { lock } = await acquire(people.chloe, ['src/**'], { executionId: execution.id, ttlSeconds: 5 });
    expect(lock.expiresAt).toBe(execution.lease?.expiresAt);
    const { lock: other } = await acquire(people.chloe, ['docs/**'], { ttlSeconds: 3_600 });
    expect(secondsBetween(other.acquiredAt, other.expiresAt)).toBe(60);
    const { lock: tied } = await acquire(people.chloe, ['docs/**'], { executionId: execution.id });
    expect([tied.id, tied.expiresAt]).toEqual([other.id, execution.lease?.expiresAt]);
  });

  it.each(['renew', 'checkpoint', 'update', 'acquire'] as const)(
    'lasts as long as the lease after its holder calls %s',
    async (operation) => {
      const { chloe, ben } = people;
      const held = await acquireStory(chloe, 'WEB-1');
      const { lock: given } = await acquire(chloe, ['src/**'], { executionId: held.executionId });
      await advanceTime(590);
      const { execution } = await {
        renew: () => chloe.deliveryExecutions.renew(held),
        checkpoint: () => chloe.deliveryExecutions.checkpoint({ ...held, summary: 'Half' }),
        update: () => chloe.deliveryExecutions.update({ ...held, progress: 50 }),
        acquire: () => chloe.deliveryExecutions.acquire(story),
      }[operation]();
      expect(await onlyLock()).toMatchObject({ id: given.id, expiresAt: execution.lease?.expiresAt });
      await advanceTime(800);
      expect(await conflictsOf(acquire(ben, ['src/a.ts']))).toHaveLength(1);
    },
  );

  it('is never made shorter by a lease that is', async () => {
    const held = await acquireStory(people.chloe, 'WEB-1');
    const { lock } = await acquire(people.chloe, ['src/**'], {
      executionId: held.executionId,
      ttlSeconds: 7_200,
    });
    await people.chloe.deliveryExecutions.renew({ ...held, ttlSeconds: 60 });
    expect((await onlyLock())?.expiresAt).toBe(lock.expiresAt);
  });

  it('lasts as long as the offer of the work, and then as long as the lease of who takes it', async () => {
    const { chloe, ben } = people;
    const held = await acquireStory(chloe, 'WEB-1', ['a.ts']);
    const { lock } = await acquire(chloe, ['src/**'], { executionId: held.executionId });
    const { execution: offered } = await chloe.deliveryExecutions.handoff({
      ...held,
      toMemberId: ben.me.memberId,
      offerTtlSeconds: 86_400,
    });
    expect((await onlyLock())?.expiresAt).toBe(offered.offer?.expiresAt);
    await advanceTime(86_000);
    const { execution } = await ben.deliveryExecutions.acquire(story);
    expect(await onlyLock()).toMatchObject({
      id: lock.id,
      holder: { name: 'Ben' },
      expiresAt: execution.lease?.expiresAt,
    });
  });

  it('goes on with a lease that is renewed late, as long as nobody else was granted what it is on', async () => {
    const { chloe, ben } = people;
    const held = await acquireStory(chloe, 'WEB-1');
    const { lock } = await acquire(chloe, ['src/**'], { executionId: held.executionId });
    await acquire(chloe, ['docs/**'], { executionId: held.executionId });
    await advanceTime(1_000);
    expect(await listLocks(people.dan)).toEqual([]);
    const { lock: granted } = await acquire(ben, ['docs/a.md']);
    const { execution, signals } = await chloe.deliveryExecutions.renew(held);
    expect(await listLocks(people.dan)).toEqual([
      { ...lock, expiresAt: execution.lease?.expiresAt },
      granted,
    ]);
    // The holder also gets a signal about the lock it lost.
    expect(signals).toMatchObject([
      {
        kind: 'lock_conflict',
        data: { cause: 'expired', resources: ['docs/**'], grantedLockId: granted.id },
      },
    ]);
    expect(await conflictsOf(acquire(ben, ['src/a.ts']))).toHaveLength(1);
  });

  it('tells its holder that another run of the same member has it now', async () => {
    const held = await acquireStory(people.chloe, 'WEB-1');
    await acquire(people.chloe, ['src/**'], { executionId: held.executionId });
    await advanceTime(1_000);
    await acquire(people.chloe, ['src/a.ts'], { runId: 'other' });
    const { signals } = await people.chloe.deliveryExecutions.renew(held);
    expect(signals.map(({ data }) => data['cause'])).toEqual(['expired']);
  });

  it('is extended by who asks for it again late, under the same token', async () => {
    const held = await acquireStory(people.chloe, 'WEB-1');
    const { lock } = await acquire(people.chloe, ['src/**'], { executionId: held.executionId });
    await advanceTime(1_000);
    const again = await acquire(people.chloe, ['src/**'], { executionId: held.executionId });
    expect(again).toMatchObject({
      extended: true,
      lock: { id: lock.id, fencingToken: lock.fencingToken },
    });
    expect(await listLocks(people.dan)).toEqual([again.lock]);
  });

  it('is not handed on where a late one of its old holder overlaps with it', async () => {
    const { chloe, ben } = people;
    const late = await acquireStory(chloe, 'WEB-2');
    await acquire(chloe, ['src/**'], { executionId: late.executionId });
    await advanceTime(1_000);
    const held = await acquireStory(chloe, 'WEB-1', ['a.ts']);
    await acquire(chloe, ['src/a.ts'], { executionId: held.executionId });
    await chloe.deliveryExecutions.handoff({ ...held, toMemberId: ben.me.memberId });
    await ben.deliveryExecutions.acquire(story);
    await chloe.deliveryExecutions.renew(late);
    expect((await listLocks(people.dan)).map(({ holder, resources }) => [holder.name, ...resources])).toEqual(
      [['Chloé', 'src/**']],
    );
  });
});

describe('a renewal and the end of a lock that meet', () => {
  it('let one holder have it: who asks waits for a renewal that is under way', async () => {
    const { chloe, ben } = people;
    const held = await acquireStory(chloe, 'WEB-1');
    await acquire(chloe, ['src/**'], { executionId: held.executionId });
    await advanceTime(1_000);
    const outcomes = await world.runUnderContention<unknown>(
      { table: 'executions', id: held.executionId },
      () => chloe.deliveryExecutions.renew(held),
      () => acquire(ben, ['src/a.ts']),
    );
    const holders = (await listLocks(people.dan)).map(({ holder }) => holder.name);
    expect(outcomes.map(({ status }) => status)).toEqual(
      holders[0] === 'Ben' ? ['fulfilled', 'fulfilled'] : ['fulfilled', 'rejected'],
    );
    expect(holders).toHaveLength(1);
  });
});
