/**
 * Tests that tasks for all organizations skip an organization that is moving to another server, and process
 * the others.
 */
import { expect, it } from '@jest/globals';
import { deliveryHandlers } from '@muster/delivery';
import { newId } from '@muster/driver';
import { useWorld } from '@muster/testing';
import { minSweepDelayMillis, sweepExpiredLeases } from '../src/sweep.ts';
import { arrangeBoard } from './board.ts';
import { openOutboxHarness } from './line.ts';

const world = useWorld({ ...deliveryHandlers });

/** Runs the work while the organization is marked as moving. */
async function whileMoving<Result>(orgId: string, work: () => Promise<Result>): Promise<Result> {
  await world.rows('insert into app.closed_orgs (org_id) values ($1)', orgId);
  try {
    return await work();
  } finally {
    await world.rows('delete from app.closed_orgs where org_id = $1', orgId);
  }
}

it('dispatches nothing of an organization that is moved, and what waits behind that', async () => {
  const line = openOutboxHarness(world);
  try {
    const [leaving, staying] = [await world.org(), await world.org()];
    const ask = (orgId: string, count: number) =>
      line.askAll(
        orgId,
        'notification.mail',
        Array.from({ length: count }, () => ({ id: newId(), payload: { notificationId: newId() } })),
      );
    // Creates more due rows than the relay claims in one turn.
    await ask(leaving.orgId, 600);
    await world.rows(`update outbox set dispatch_after = now() - interval '1 hour'`);
    await ask(staying.orgId, 1);
    expect(await whileMoving(leaving.orgId, () => line.runRelayTurn())).toBe('rest');
    const attempts = async (orgId: string) => new Set((await line.rows(orgId)).map((row) => row.attempts));
    expect(await attempts(leaving.orgId)).toEqual(new Set([0]));
    expect(await attempts(staying.orgId)).toEqual(new Set([1]));
  } finally {
    await line.close();
  }
});

it('notes no expiry in an organization that is moved, and does not wait for it', async () => {
  const { people } = await arrangeBoard(world);
  await people.robo.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-1' });
  await world.rows(`update leases set expires_at = clock_timestamp() - interval '1 second'`);
  const noted = async () =>
    (await world.rows(`select from execution_events where org_id = $1 and kind = 'expired'`, people.orgId))
      .length;
  const rest = await whileMoving(people.orgId, () => sweepExpiredLeases(world.database.app));
  expect(rest).toBeGreaterThan(minSweepDelayMillis);
  expect(await noted()).toBe(0);
  await sweepExpiredLeases(world.database.app);
  expect(await noted()).toBe(1);
});
