/** The worker counts seats after each change and every night. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { billingHandlers, defaultSeatPrices, seatReactions } from '@muster/billing';
import { notificationReaction, notificationsHandlers } from '@muster/notifications';
import { organizationsHandlers } from '@muster/organizations';
import { useWorld } from '@muster/testing';
import { recalculateSeatsOf, reconcileSeats } from '../src/seats.ts';
import { type OutboxHarness, openOutboxHarness, waitUntil } from './line.ts';

const world = useWorld(
  { ...organizationsHandlers, ...notificationsHandlers, ...billingHandlers(defaultSeatPrices) },
  [seatReactions, notificationReaction],
);
const { signal } = new AbortController();
const readStoredSeats = (orgId: string) =>
  world.rows<object>('select purchased, used, pending, by_role from seat_usage where org_id = $1', orgId);
const awaited = (orgId: string) =>
  world.rows<object>(
    `select id from outbox where org_id = $1 and topic = 'seats.recalculate' and done_at is null`,
    orgId,
  );
const seatNotices = (orgId: string) =>
  world.rows<{ name: string }>(
    `select m.name from notifications n join members m on m.org_id = n.org_id and m.id = n.member_id
     where n.org_id = $1 and n.kind = 'seat_limit' order by m.name`,
    orgId,
  );

describe('seats.recalculate', () => {
  let line: OutboxHarness;
  beforeEach(() => {
    line = openOutboxHarness(world);
  });
  afterEach(() => line.close());

  it('runs after an invitation, a change of role and a removal, and says when it counted', async () => {
    const { ana, chloe, dan, orgId } = await world.org();
    await ana.members.invite({ email: 'noor@example.com' });
    await ana.members.setRole({ memberId: dan.me.memberId, role: 'member' });
    await ana.members.removeMember({ memberId: chloe.me.memberId });
    expect(await awaited(orgId)).toHaveLength(3);
    const before = (await ana.billing.seatUsage()).usage.recalculatedAt;
    line.startWorkers({ 'seats.recalculate': recalculateSeatsOf });
    await line.runRelayTurn();
    await waitUntil(async () => (await awaited(orgId)).length === 0);
    expect(await readStoredSeats(orgId)).toEqual([
      { purchased: 25, used: 3, pending: 1, by_role: { owner: 1, admin: 1, member: 1, viewer: 0 } },
    ]);
    const [{ at } = { at: '' }] = await world.rows<{ at: string }>(
      'select recalculated_at as at from seat_usage where org_id = $1',
      orgId,
    );
    const { usage } = await ana.billing.seatUsage();
    expect(usage).toMatchObject({ used: 3, pending: 1 });
    expect(Date.parse(usage.recalculatedAt)).toBe(Date.parse(at));
    expect(Date.parse(usage.recalculatedAt)).toBeGreaterThanOrEqual(Date.parse(before));
  });
});

describe('seats.reconcile', () => {
  const reconcile = () => reconcileSeats(world.database.app, signal);

  it('stores the first count without calling it drift', async () => {
    const { orgId } = await world.org();
    const { drifted } = await reconcile();
    expect(drifted.map((report) => report.orgId)).not.toContain(orgId);
    expect(await readStoredSeats(orgId)).toHaveLength(1);
  });

  it('corrects and reports a count that is wrong though no change waits to be counted', async () => {
    const { ana, dan, orgId } = await world.org();
    await reconcile();
    await world.rows('update seat_usage set used = used + 4 where org_id = $1', orgId);
    expect((await reconcile()).drifted).toEqual([{ orgId, purchased: 25, used: 3, pending: 0 }]);
    expect(await readStoredSeats(orgId)).toMatchObject([{ used: 3 }]);
    await ana.members.setRole({ memberId: dan.me.memberId, role: 'member' });
    expect((await reconcile()).drifted).toEqual([]);
    expect(await readStoredSeats(orgId)).toMatchObject([{ used: 4 }]);
  });

  it('reports organizations that hold more than they bought, and notifies the owner and admins once', async () => {
    const [{ orgId }] = [await world.org(), await world.org()];
    expect((await reconcile()).overdrawn).toEqual([]);
    await world.rows('update subscriptions set seats = 2 where org_id = $1', orgId);
    expect((await reconcile()).overdrawn).toEqual([{ orgId, purchased: 2, used: 3, pending: 0 }]);
    expect((await reconcile()).overdrawn).toHaveLength(1);
    expect((await seatNotices(orgId)).map(({ name }) => name)).toEqual(['Ana', 'Ben']);
  });
});
