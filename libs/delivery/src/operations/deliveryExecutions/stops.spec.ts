import { beforeEach, describe, expect, it } from '@jest/globals';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);
const target = { targetType: 'story', targetId: 'WEB-1' } as const;
let people: PeopleOf<typeof world>;
let held: { executionId: string; leaseToken: string };

const acquire = async (runId: string) => {
  const { execution, leaseToken } = await people.robo.deliveryExecutions.acquire({ ...target, runId });
  return { executionId: execution.id, leaseToken };
};
beforeEach(async () => {
  ({ people } = await arrangeStories(world));
  held = await acquire('r1');
});

const setStopRequested = (
  who: PeopleOf<typeof world>['ben' | 'robo'],
  requestStop: boolean,
  { executionId } = held,
) => who.deliveryExecutions.update({ executionId, requestStop });
const expectAgentsRefused = async (): Promise<void> => {
  for (const runId of ['r1', 'r2', undefined])
    await expect(
      people.robo.deliveryExecutions.acquire({ ...target, ...(runId !== undefined && { runId }) }),
    ).rejects.toMatchObject({ status: 422, reason: 'stop_requested' });
};
const expire = () =>
  world.rows(`update leases set expires_at = now() - interval '1 s' where org_id = $1`, people.orgId);
const kindsOf = async ({ executionId } = held) =>
  (await people.ana.deliveryExecutions.eventsSince({ executionId })).items.map(({ kind }) => kind);
const activity = async () =>
  (
    await world.rows<{ kind: string }>(
      `select kind from activity where org_id = $1 and kind like 'execution.stop%' order by seq`,
      people.orgId,
    )
  ).map(({ kind }) => kind);

describe('a stop is in force until a member lifts it', () => {
  it('after the holder released, whatever run an agent names', async () => {
    await setStopRequested(people.ben, true);
    await expectAgentsRefused();
    await people.robo.deliveryExecutions.release(held);
    await expectAgentsRefused();
    expect((await setStopRequested(people.ben, false)).execution.stopRequested).toBeNull();
    await acquire('r2');
    expect(await kindsOf()).toEqual(['acquired', 'stop_requested', 'released', 'stop_lifted', 'acquired']);
    expect(await activity()).toEqual(['execution.stopRequested', 'execution.stopLifted']);
  });

  it('after the lease expired, and after an offer to another agent', async () => {
    await setStopRequested(people.ben, true);
    await expire();
    await expectAgentsRefused();
    await people.robo.deliveryExecutions.checkpoint({ ...held, summary: 'Half' });
    await people.robo.deliveryExecutions.handoff({ ...held, toAgentId: people.robo.me.agentId ?? '' });
    await expectAgentsRefused();
  });

  it('after the work was completed, by its holder or by the stop itself', async () => {
    await setStopRequested(people.ben, true);
    await people.robo.deliveryExecutions.complete({ ...held, outcome: 'canceled' });
    await expectAgentsRefused();
    expect((await setStopRequested(people.ben, false)).execution).toMatchObject({
      state: 'completed',
      stopRequested: null,
    });
    const second = await acquire('r2');
    await people.robo.deliveryExecutions.release(second);
    const canceled = { state: 'completed', outcome: 'canceled', stopRequested: { by: { name: 'Ben' } } };
    expect((await setStopRequested(people.ben, true, second)).execution).toMatchObject(canceled);
    await expectAgentsRefused();
    expect((await setStopRequested(people.ben, true, second)).execution).toMatchObject(canceled);
    expect(await kindsOf(second)).toEqual(['acquired', 'released', 'stop_requested', 'completed']);
  });

  it('also where it is requested after the end', async () => {
    await people.robo.deliveryExecutions.complete({ ...held, outcome: 'failed' });
    expect((await setStopRequested(people.ben, true)).execution).toMatchObject({
      outcome: 'failed',
      stopRequested: {},
    });
    await expectAgentsRefused();
  });

  it('and a member who acquires the target lifts it', async () => {
    for (const end of [undefined, 'canceled'] as const) {
      await setStopRequested(people.ben, true);
      if (end === undefined) await people.robo.deliveryExecutions.release(held);
      else await people.robo.deliveryExecutions.complete({ ...held, outcome: end });
      const taken = await people.ben.deliveryExecutions.acquire(target);
      expect(taken.execution.stopRequested).toBeNull();
      await people.ben.deliveryExecutions.release({
        executionId: taken.execution.id,
        leaseToken: taken.leaseToken,
      });
      held = await acquire('r3');
    }
    expect(await activity()).toEqual(
      Array.from({ length: 2 }, () => ['execution.stopRequested', 'execution.stopLifted']).flat(),
    );
  });

  it('and a member who goes on with their own lease lifts it, and hears no signal of it', async () => {
    await people.robo.deliveryExecutions.release(held);
    const own = await people.ben.deliveryExecutions.acquire(target);
    await setStopRequested(people.ana, true);
    const again = await people.ben.deliveryExecutions.acquire(target);
    expect([again.resumed, again.signals, again.execution.stopRequested]).toEqual([true, [], null]);
    expect(again.execution.lease?.epoch).toBe(own.execution.lease?.epoch);
  });
});

describe('a stop that is lifted', () => {
  it('is no signal any more, though the holder was not told of it', async () => {
    await setStopRequested(people.ben, true);
    await setStopRequested(people.ben, false);
    expect((await people.robo.deliveryExecutions.renew(held)).signals).toEqual([]);
  });

  it('was lifted by a member; agents may not', async () => {
    await setStopRequested(people.ben, true);
    await expect(setStopRequested(people.robo, false)).rejects.toMatchObject({
      status: 403,
      reason: 'agents_may_not',
    });
    await expectAgentsRefused();
  });

  it('leaves nothing behind where none was in force', async () => {
    await setStopRequested(people.ben, false);
    expect(await kindsOf()).toEqual(['acquired']);
    expect(await activity()).toEqual([]);
  });
});

it('a stop is refused on an older execution of the target', async () => {
  await people.robo.deliveryExecutions.complete({ ...held, outcome: 'failed' });
  await acquire('r2');
  for (const requestStop of [true, false])
    await expect(setStopRequested(people.ben, requestStop)).rejects.toMatchObject({
      reason: 'invalid_transition',
    });
});
