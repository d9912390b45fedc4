import { describe, expect, it } from '@jest/globals';
import { useWorld } from '@muster/testing';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);

// These tests run without the board. The tests of coordination-api check the effect of a merge on the story.
const arrangeBoard = () => arrangeStories(world, { policy: { completeStoryOnMerge: false } });

const target = { targetType: 'story', targetId: 'WEB-1' } as const;

describe('deliveryExecutions.acquire', () => {
  it('grants the lease on a story to the first who asks, and tells the second who has it', async () => {
    const { people } = await arrangeBoard();
    const { execution, leaseToken, resumed, signals } = await people.chloe.deliveryExecutions.acquire(target);
    expect(execution).toMatchObject({
      state: 'leased',
      attempt: 1,
      lease: { epoch: 1, ttlSeconds: 900, runId: null },
    });
    expect([resumed, signals]).toEqual([false, []]);
    expect(leaseToken).toMatch(/^lse_1_/);
    await expect(people.robo.deliveryExecutions.acquire(target)).rejects.toMatchObject({
      body: {
        code: 'conflict',
        details: {
          ...{ reason: 'lease_held', holder: { name: 'Chloé' }, yours: false, retryable: false },
          ...{ executionId: execution.id, expiresAt: execution.lease?.expiresAt },
        },
      },
    });
    await expect(
      people.chloe.deliveryExecutions.acquire({ ...target, runId: 'another' }),
    ).rejects.toMatchObject({ body: { details: { reason: 'lease_held', yours: true, runId: null } } });
    const again = await people.chloe.deliveryExecutions.acquire(target);
    expect(again.execution).toMatchObject({ attempt: 1, lease: { epoch: 1 } });
    await expect(
      people.chloe.deliveryExecutions.renew({ executionId: execution.id, leaseToken }),
    ).rejects.toMatchObject({ body: { details: { reason: 'stale_lease', currentEpoch: 1 } } });
    await people.chloe.deliveryExecutions.renew({ executionId: execution.id, leaseToken: again.leaseToken });
  });

  it('refuses a story with open children, except to its holder', async () => {
    const { people, stories } = await arrangeBoard();
    const setChild = (assignments: string) =>
      world.rows(`update stories set ${assignments} where id = $1`, stories[1]);
    await setChild(`parent_id = '${stories[0]}'`);
    for (const asked of [target, { ...target, takeOver: true }])
      await expect(people.ana.deliveryExecutions.acquire(asked)).rejects.toMatchObject({
        ...{ status: 422, reason: 'has_children', body: { details: { children: ['WEB-2'] } } },
      });
    await setChild('completed_at = now()');
    await people.ana.deliveryExecutions.acquire(target);
    await setChild('completed_at = null');
    expect((await people.ana.deliveryExecutions.acquire(target)).execution).toMatchObject({ attempt: 1 });
    await people.chloe.deliveryExecutions.acquire({ ...target, targetId: 'WEB-2' });
  });

  it('gives as much time as the policy allows at most, and five seconds at least', async () => {
    const { people } = await arrangeBoard();
    const { deliveryExecutions: api } = people.chloe;
    const given = async (ttlSeconds: number): Promise<(number | undefined)[]> => {
      const { execution, leaseToken } = await api.acquire({ ...target, ttlSeconds });
      const renewed = await api.renew({ executionId: execution.id, leaseToken, ttlSeconds });
      return [execution, renewed.execution].map(({ lease }) => lease?.ttlSeconds);
    };
    expect(await given(1_000_000)).toEqual([14_400, 14_400]);
    expect(await given(1)).toEqual([5, 5]);
    expect(await given(60)).toEqual([60, 60]);
  });

  it.each(['a member', 'an agent of theirs'])(
    'takes what was offered to %s who was removed since',
    async (to) => {
      const { people } = await arrangeBoard();
      const { orgId, ana, ben, chloe } = people;
      const addressee = await world.token(orgId, ben.me.memberId, { agent: 'Bert' });
      const { execution, leaseToken } = await chloe.deliveryExecutions.acquire(target);
      const held = { executionId: execution.id, leaseToken };
      await chloe.deliveryExecutions.checkpoint({ ...held, summary: 'Half' });
      await chloe.deliveryExecutions.handoff({
        ...held,
        ...(to === 'a member' ? { toMemberId: ben.me.memberId } : { toAgentId: addressee.me.agentId ?? '' }),
        offerTtlSeconds: 86_400,
      });
      await expect(people.robo.deliveryExecutions.acquire(target)).rejects.toMatchObject({
        reason: 'reserved',
      });
      await world.rows(
        `update members set status = 'removed' where org_id = $1 and id = $2`,
        orgId,
        ben.me.memberId,
      );
      const { execution: seen } = await ana.deliveryExecutions.get({ executionId: execution.id });
      expect(seen).toMatchObject({ state: 'available', offer: null });
      const { items, lastSeq } = await ana.deliveryExecutions.eventsSince({ executionId: execution.id });
      expect(items.at(-1)).toMatchObject({ seq: lastSeq, kind: 'released', actor: { kind: 'system' } });
      expect((await people.robo.deliveryExecutions.acquire(target)).resumed).toBe(true);
    },
  );

  it('works through a whole life', async () => {
    const { people } = await arrangeBoard();
    const { deliveryExecutions: api } = people.chloe;
    const { execution, leaseToken } = await api.acquire({ ...target, runId: 'r1' });
    const held = { executionId: execution.id, leaseToken };
    const { execution: at1 } = await api.checkpoint({ ...held, summary: 'Half', filesTouched: ['a.ts'] });
    expect(at1.checkpoint).toMatchObject({ seq: 1, summary: 'Half', pushed: false });
    await api.update({ ...held, phase: 'testing', progress: 60, git: { branch: 'web-1' } });
    const { execution: offered } = await api.handoff({ ...held, toMemberId: people.ben.me.memberId });
    expect(offered).toMatchObject({ state: 'offered', offer: { toMemberId: people.ben.me.memberId } });
    expect(await api.handoff({ ...held, toMemberId: people.ben.me.memberId })).toMatchObject({
      execution: { state: 'offered' },
    });
    await expect(api.renew(held)).rejects.toMatchObject({ body: { details: { reason: 'stale_lease' } } });
    await expect(people.robo.deliveryExecutions.acquire(target)).rejects.toMatchObject({
      body: { details: { reason: 'reserved' } },
    });
    const ben = await people.ben.deliveryExecutions.acquire(target);
    expect(ben).toMatchObject({
      resumed: true,
      execution: { attempt: 2, state: 'leased', checkpoint: { summary: 'Half' }, lease: { epoch: 2 } },
    });
    const stopped = await people.ana.deliveryExecutions.update({
      executionId: execution.id,
      requestStop: true,
    });
    expect(stopped.execution.stopRequested).toMatchObject({ by: { name: 'Ana' } });
    const heldByBen = { executionId: execution.id, leaseToken: ben.leaseToken };
    const { signals } = await people.ben.deliveryExecutions.renew(heldByBen);
    expect(signals).toMatchObject([{ kind: 'stop_requested', data: { reason: null, by: { name: 'Ana' } } }]);
    expect(await people.ben.deliveryExecutions.renew(heldByBen)).toMatchObject({ signals });
    await people.ben.deliveryExecutions.release(heldByBen);
    await expect(people.robo.deliveryExecutions.acquire(target)).rejects.toMatchObject({
      body: { details: { reason: 'stop_requested' } },
    });
    await people.ben.deliveryExecutions.update({ executionId: execution.id, requestStop: false });
    const robo = await people.robo.deliveryExecutions.acquire(target);
    const done = await people.robo.deliveryExecutions.complete({
      executionId: execution.id,
      leaseToken: robo.leaseToken,
      outcome: 'submitted',
    });
    expect(done.execution.state).toBe('submitted');
    const { execution: merged } = await people.ana.deliveryExecutions.recordForgeObservation({
      executionId: execution.id,
      observation: { dedupeKey: '1', kind: 'pr_merged', observedAt: '2026-11-21T09:30:00.000Z' },
    });
    expect(merged).toMatchObject({ state: 'completed', outcome: 'succeeded' });
    const { items, lastSeq } = await people.dan.deliveryExecutions.eventsSince({ executionId: execution.id });
    expect(items.map(({ seq }) => seq)).toEqual(items.map((_, index) => index + 1));
    expect(lastSeq).toBe(items.length);
  });

  it('lets exactly one of many in', async () => {
    const { people, stories } = await arrangeBoard();
    await people.chloe.deliveryExecutions
      .acquire(target)
      .then(({ execution, leaseToken }) =>
        people.chloe.deliveryExecutions.release({ executionId: execution.id, leaseToken }),
      );
    const outcomes = await world.runUnderContention(
      { table: 'leases', id: stories[0] ?? '', column: 'unit_id' },
      ...[people.ana, people.ben, people.chloe, people.robo].map(
        (person) => () => person.deliveryExecutions.acquire(target),
      ),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
    ]);
  });
});
