import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { acquire, listLocks, acquireStory } from '../../../test/locks.ts';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);

let people: PeopleOf<typeof world>;
let stories: readonly string[];
beforeEach(async () => {
  ({ people, stories } = await arrangeStories(world));
});

describe('a lock that goes with work', () => {
  it('needs the lease of that work', async () => {
    const { executionId } = await acquireStory(people.chloe, 'WEB-1');
    const { lock } = await acquire(people.chloe, ['src/**'], { executionId });
    expect(lock.executionId).toBe(executionId);
    await expect(acquire(people.ben, ['docs/**'], { executionId })).rejects.toMatchObject({
      status: 409,
      body: { details: { reason: 'stale_lease', currentEpoch: 1 } },
    });
  });

  it('ends with its release, its completion and its take-over', async () => {
    const released = await acquireStory(people.chloe, 'WEB-1');
    await acquire(people.chloe, ['src/**'], { executionId: released.executionId });
    await acquire(people.chloe, ['other/**']);
    await people.chloe.deliveryExecutions.release(released);
    expect((await listLocks(people.dan)).map(({ resources }) => resources)).toEqual([['other/**']]);

    const completed = await acquireStory(people.chloe, 'WEB-1');
    await acquire(people.chloe, ['src/**'], { executionId: completed.executionId });
    await people.chloe.deliveryExecutions.complete({ ...completed, outcome: 'failed' });
    expect(await listLocks(people.dan)).toHaveLength(1);

    const taken = await acquireStory(people.chloe, 'WEB-2');
    await acquire(people.chloe, ['src/**'], { executionId: taken.executionId });
    await people.ana.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-2', takeOver: true });
    expect(await listLocks(people.dan)).toHaveLength(1);
    await expect(acquire(people.chloe, ['src/**'], { executionId: taken.executionId })).rejects.toMatchObject(
      { reason: 'stale_lease' },
    );
  });

  it('ends with the run too that the completion ends, where it goes with no work', async () => {
    const run = { runId: 'run-1' };
    const acquired = await people.chloe.deliveryExecutions.acquire({
      ...run,
      targetType: 'story',
      targetId: 'WEB-1',
    });
    const other = await acquireStory(people.chloe, 'WEB-2');
    await acquire(people.chloe, ['run/**'], run);
    await acquire(people.chloe, ['other-work/**'], { ...run, executionId: other.executionId });
    await acquire(people.chloe, ['other-run/**'], { runId: 'run-2' });
    await acquire(people.chloe, ['no-run/**']);
    await acquire(people.robo, ['agent/**'], run);
    await people.chloe.deliveryExecutions.complete({
      executionId: acquired.execution.id,
      leaseToken: acquired.leaseToken,
      outcome: 'canceled',
    });
    expect((await listLocks(people.dan)).map(({ resources }) => resources[0])).toEqual([
      'other-work/**',
      'other-run/**',
      'no-run/**',
      'agent/**',
    ]);
  });

  it('is of work that is there', async () => {
    await expect(acquire(people.ben, ['a'], { executionId: newId() })).rejects.toMatchObject({ status: 404 });
    await expect(acquire(people.ben, ['a'], { storyId: newId() })).rejects.toMatchObject({ status: 404 });
    const { lock } = await acquire(people.ben, ['a'], { storyId: 'web-2' });
    expect(lock.storyId).toBe(stories[1]);
  });

  it('never outlives it, however the two meet', async () => {
    const held = await acquireStory(people.chloe, 'WEB-1');
    const { lock: other } = await acquire(people.chloe, ['other/**']);
    const holder = await world.database.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select 1 from locks where id = $1 for update', [other.id]);
      // The call has found the work and now waits. The work must not end while it waits.
      const acquiring = acquire(people.chloe, ['src/**'], { executionId: held.executionId });
      await world.waitUntilBlocked(1);
      const releasing = people.chloe.deliveryExecutions.release(held);
      await world.waitUntilBlocked(2);
      await holder.query('rollback');
      await Promise.all([acquiring, releasing]);
    } finally {
      holder.release();
    }
    expect(await listLocks(people.dan)).toEqual([other]);
  });

  it('comes along to whom the work is offered, unless it overlaps with what stays behind', async () => {
    const { chloe, ben } = people;
    const held = await acquireStory(chloe, 'WEB-1', ['a.ts']);
    const { lock: passing } = await acquire(chloe, ['src/**'], { executionId: held.executionId });
    await acquire(chloe, ['docs/**'], { executionId: held.executionId });
    const { lock: staying } = await acquire(chloe, ['docs/mine.md']);
    await chloe.deliveryExecutions.handoff({ ...held, toMemberId: ben.me.memberId });
    const { execution } = await ben.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-1' });
    expect(await listLocks(people.dan)).toEqual([
      {
        ...passing,
        holder: { ...passing.holder, memberId: ben.me.memberId, name: 'Ben' },
        expiresAt: execution.lease?.expiresAt,
      },
      staying,
    ]);
    expect((await listLocks(ben, { mine: true })).map(({ id }) => id)).toEqual([passing.id]);
  });
});

describe('a lock on its way to another', () => {
  it('is seen by what its holder asks for meanwhile, whichever comes first', async () => {
    const { chloe, ben } = people;
    const held = await acquireStory(chloe, 'WEB-1', ['a.ts']);
    const { lock } = await acquire(chloe, ['src/**'], { executionId: held.executionId });
    await chloe.deliveryExecutions.handoff({ ...held, toMemberId: ben.me.memberId });
    await world.runUnderContention<unknown>(
      { table: 'locks', id: lock.id },
      () => ben.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-1' }),
      () => acquire(chloe, ['src/a.ts']),
    );
    // One of two outcomes: Ben has the lock that passed to him, or Chloé has the lock she took first.
    const live = await listLocks(people.dan);
    expect(live.map(({ holder, resources }) => [holder.name, ...resources])).toEqual([
      live[0]?.holder.name === 'Ben' ? ['Ben', 'src/**'] : ['Chloé', 'src/a.ts'],
    ]);
  });
});

describe('whoever works on files', () => {
  const signalsOf = async (who: PersonOf<typeof world>, held: { executionId: string; leaseToken: string }) =>
    (await who.deliveryExecutions.renew(held)).signals.map(({ kind, data }) => ({ kind, ...data }));

  it('hears that somebody else has locked them now, and of nothing else', async () => {
    const held = await acquireStory(people.chloe, 'WEB-1', ['src/a.ts', 'app/[id].ts', 'docs/x.md']);
    await acquire(people.ben, ['lib/**', 'src/b.ts']);
    expect(await signalsOf(people.chloe, held)).toEqual([]);
    const { lock } = await acquire(people.ben, ['src/**', 'app/\\[id\\].ts']);
    expect(await signalsOf(people.chloe, held)).toEqual([
      {
        kind: 'lock_conflict',
        cause: 'acquired',
        lockId: lock.id,
        mode: 'exclusive',
        resources: ['src/**', 'app/\\[id\\].ts'],
        paths: ['src/a.ts', 'app/[id].ts'],
      },
    ]);
    await acquire(people.ben, ['src/**', 'app/\\[id\\].ts']);
    await acquire(people.chloe, ['docs/**']);
    expect(await signalsOf(people.chloe, held)).toEqual([]);
  });

  it('hears that a lock of the work was freed by another', async () => {
    const held = await acquireStory(people.chloe, 'WEB-1');
    const { lock } = await acquire(people.chloe, ['src/**'], { executionId: held.executionId });
    await people.ana.locks.release({ lockId: lock.id });
    expect(await signalsOf(people.chloe, held)).toMatchObject([
      { kind: 'lock_conflict', cause: 'released', lockId: lock.id, resources: ['src/**'] },
    ]);
    const { items } = await people.dan.deliveryExecutions.eventsSince({ executionId: held.executionId });
    expect(items.map(({ seq, kind }) => [seq, kind])).toEqual([
      [1, 'acquired'],
      [2, 'lock_conflict'],
    ]);
  });
});
