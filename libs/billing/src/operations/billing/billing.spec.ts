import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { billingRegistry } from '@muster/billing-registry';
import { organizationsHandlers } from '@muster/organizations';
import { useWorld } from '@muster/testing';
import { calculateCost } from '../../rules/proration.ts';
import { defaultSeatPrices, type SeatPrices } from '../../rules/prices.ts';
import { createBillingOperationHandlers } from './handlers.ts';

const prices: SeatPrices = {
  ...defaultSeatPrices,
  free: { currency: 'EUR', interval: 'month', tiers: [{ upTo: null, unitAmount: 0 }] },
};
const world = useWorld({ ...organizationsHandlers, billing: createBillingOperationHandlers(prices) });

/** Sets a billing period of 30 days, of which this many are left. */
const periodWith = (orgId: string, daysLeft: number) =>
  world.rows(
    `update subscriptions set current_period_start = date_trunc('day', now()) + make_interval(days => $2 - 30),
       current_period_end = date_trunc('day', now()) + make_interval(days => $2) where org_id = $1`,
    orgId,
    daysLeft,
  );
const ledgerOf = (orgId: string) =>
  world.rows<{
    from_seats: number;
    to_seats: number;
    amount: number;
    lines: unknown;
    actor: { name: string };
  }>(
    'select from_seats, to_seats, amount, lines, actor from seat_ledger where org_id = $1 order by version',
    orgId,
  );

describe('billing.seatPricing', () => {
  it('answers the prices of the plan, and what the seats bought cost', async () => {
    const { dan } = await world.org({ plan: 'team' });
    const { pricing } = await dan.billing.seatPricing();
    expect(pricing).toEqual({ plan: 'team', ...prices.team, seats: 25, amount: 10 * 900 + 15 * 800 });
  });

  it('goes by the prices that the installation has', async () => {
    const { dan } = await world.org({ plan: 'free' });
    expect((await dan.billing.seatPricing()).pricing).toMatchObject({ currency: 'EUR', amount: 0 });
  });
});

describe('billing.seatUsage', () => {
  it('counts who holds a seat, who reserves one, and what is free', async () => {
    const { ana, ben, orgId } = await world.org();
    await ana.members.invite({ email: 'noor@example.com' });
    await ana.members.invite({ email: 'elif@example.com', role: 'admin' });
    await ana.members.invite({ email: 'viewer@example.com', role: 'viewer' });
    const { invitation } = await ana.members.invite({ email: 'late@example.com' });
    await world.rows(
      `update invitations set expires_at = now() - interval '1 s' where id = $1`,
      invitation.id,
    );
    const { id } = (await ana.members.invite({ email: 'gone@example.com' })).invitation;
    await ana.invitations.revoke({ invitationId: id });
    const { me } = await world.member(orgId, 'Removed', 'member');
    await world.rows(`update members set status = 'removed' where id = $1`, me.memberId);
    const { usage } = await ben.billing.seatUsage();
    expect(usage).toEqual({
      purchased: 25,
      used: 3,
      pending: 2,
      available: 20,
      byRole: { owner: 1, admin: 1, member: 1, viewer: 1 },
      recalculatedAt: expect.stringMatching(/Z$/),
    });
    // orgEntitlement returns the same number of used and of purchased seats.
    const { entitlement } = await ben.billing.orgEntitlement();
    expect([entitlement.usage.seats, entitlement.limits.seats]).toEqual([5, 25]);
  });

  it('never says that less than nothing is free', async () => {
    const { ana, orgId } = await world.org();
    await world.rows('update subscriptions set seats = 1 where org_id = $1', orgId);
    expect((await ana.billing.seatUsage()).usage).toMatchObject({ purchased: 1, used: 3, available: 0 });
  });
});

describe('billing.orgEntitlement', () => {
  it('says the same as session.identity, in the shape of the contract', async () => {
    const { dan } = await world.org({ plan: 'team' });
    const answer = await dan.billing.orgEntitlement();
    expect(billingRegistry.billing.orgEntitlement.result.parse(answer)).toEqual(answer);
    expect(answer.entitlement).toEqual((await dan.session.identity()).entitlement);
  });

  it('rolls a period forward that has ended', async () => {
    const { dan, orgId } = await world.org();
    await world.rows(
      `update subscriptions set current_period_start = '2020-01-15', current_period_end = '2020-02-15', created_at = '2020-01-15' where org_id = $1`,
      orgId,
    );
    const { currentPeriodEnd } = (await dan.billing.orgEntitlement()).entitlement;
    expect(currentPeriodEnd).toMatch(/-15T00:00:00\.000Z$/);
    const away = Date.parse(currentPeriodEnd ?? '') - Date.now();
    expect(away).toBeGreaterThan(0);
    expect(away).toBeLessThanOrEqual(31 * 86_400_000);
  });
});

describe('billing.updateSeats', () => {
  it('buys more at once, charges the rest of the period, and writes it down', async () => {
    const { ana, orgId } = await world.org();
    await periodWith(orgId, 15);
    const { subscription, usage, proration } = await ana.billing.updateSeats({ seats: 60 });
    const [before, after] = [
      calculateCost(prices.team.tiers, 25) / 2,
      calculateCost(prices.team.tiers, 60) / 2,
    ];
    const lines = [
      { kind: 'credit', seats: 25, days: 15, amount: -before },
      { kind: 'charge', seats: 60, days: 15, amount: after },
    ];
    expect(proration).toMatchObject({
      amount: after - before,
      currency: 'USD',
      to: subscription.currentPeriodEnd,
      lines,
    });
    expect(subscription).toMatchObject({ id: orgId, plan: 'team', seats: 60, version: 2 });
    expect(usage).toMatchObject({ purchased: 60, used: 3, available: 57 });
    expect((await ana.billing.seatUsage()).usage).toMatchObject({ purchased: 60 });
    expect(await ledgerOf(orgId)).toEqual([
      {
        from_seats: 25,
        to_seats: 60,
        amount: after - before,
        lines,
        actor: expect.objectContaining({ name: 'Ana' }),
      },
    ]);
    const told = await world.rows(`select kind, subject, data from activity where org_id = $1`, orgId);
    expect(told).toEqual([
      {
        kind: 'seats.changed',
        subject: { type: 'subscription', id: orgId, key: null, title: 'team' },
        data: { from: 25, to: 60 },
      },
    ]);
  });

  it('costs nothing in the end when it is taken back on the same day', async () => {
    const { ana, orgId } = await world.org();
    await periodWith(orgId, 7);
    for (const seats of [40, 3, 111, 25]) await ana.billing.updateSeats({ seats });
    const ledger = await ledgerOf(orgId);
    expect(ledger.map(({ from_seats: from, to_seats: to }) => [from, to])).toEqual([
      [25, 40],
      [40, 3],
      [3, 111],
      [111, 25],
    ]);
    expect(ledger.reduce((sum, line) => sum + line.amount, 0)).toBe(0);
  });

  it('changes nothing in a preview, and says what it would cost', async () => {
    const { ana, orgId } = await world.org();
    const preview = await ana.billing.updateSeats({ seats: 30, preview: true });
    expect(preview.subscription).toMatchObject({ seats: 25, version: 1 });
    expect(preview.usage.purchased).toBe(25);
    expect(await ledgerOf(orgId)).toEqual([]);
    for (const trail of ['activity', 'audit'])
      expect(await world.rows(`select from ${trail} where org_id = $1`, orgId)).toEqual([]);
    const done = await ana.billing.updateSeats({ seats: 30, expectedVersion: preview.subscription.version });
    expect(done.proration).toEqual(preview.proration);
  });

  it('answers the number there is with no change and no charge', async () => {
    const { ana, orgId } = await world.org();
    const { subscription, proration } = await ana.billing.updateSeats({ seats: 25 });
    expect(subscription).toMatchObject({ seats: 25, version: 1 });
    expect(proration).toMatchObject({ amount: 0, lines: [] });
    expect(await ledgerOf(orgId)).toEqual([]);
    // The call also succeeds if more seats are used than purchased, because it does not change the number of
    // seats.
    await world.rows('update subscriptions set seats = 2 where org_id = $1', orgId);
    expect((await ana.billing.updateSeats({ seats: 2 })).usage).toMatchObject({ purchased: 2, used: 3 });
  });

  it.each([false, true])('goes no lower than what is held and reserved (preview: %s)', async (preview) => {
    const { ana } = await world.org();
    await ana.members.invite({ email: 'noor@example.com' });
    await expect(ana.billing.updateSeats({ seats: 3, preview })).rejects.toMatchObject({
      status: 422,
      body: { details: { reason: 'seats_in_use', purchased: 25, used: 3, pending: 1 } },
    });
    expect((await ana.billing.updateSeats({ seats: 4, preview })).proration.amount).toBeLessThanOrEqual(0);
  });

  it('goes no higher than the plan has', async () => {
    const { ana, orgId } = await world.org({ plan: 'team' });
    await expect(ana.billing.updateSeats({ seats: 251 })).rejects.toMatchObject({
      status: 422,
      body: { details: { reason: 'limit_exceeded', plan: 'team', limit: 250 } },
    });
    expect((await ana.billing.updateSeats({ seats: 250 })).usage.purchased).toBe(250);
    await world.rows(`update subscriptions set plan = 'enterprise' where org_id = $1`, orgId);
    expect((await ana.billing.updateSeats({ seats: 1_000_000 })).usage.purchased).toBe(1_000_000);
  });

  it('is refused where somebody changed it meanwhile', async () => {
    const { ana } = await world.org();
    await ana.billing.updateSeats({ seats: 26, expectedVersion: 1 });
    await expect(ana.billing.updateSeats({ seats: 30, expectedVersion: 1 })).rejects.toMatchObject({
      status: 409,
      body: { details: { reason: 'version_mismatch', currentVersion: 2 } },
    });
  });

  it('is for the owner alone, and an attempt is noted', async () => {
    const { ben, orgId } = await world.org();
    await expect(ben.billing.updateSeats({ seats: 30 })).rejects.toMatchObject({ status: 403 });
    expect(await world.rows('select operation, outcome from audit where org_id = $1', orgId)).toEqual([
      { operation: 'billing.updateSeats', outcome: 'denied' },
    ]);
  });

  it('moves on to the period that it happens in, and keeps that', async () => {
    const { ana, orgId } = await world.org();
    await world.rows(
      `update subscriptions set current_period_start = '2020-01-31', current_period_end = '2020-02-29', created_at = '2020-01-31' where org_id = $1`,
      orgId,
    );
    const { subscription } = await ana.billing.updateSeats({ seats: 30 });
    const [stored] = await world.rows(
      'select current_period_start, current_period_end from subscriptions where org_id = $1',
      orgId,
    );
    expect(stored).toEqual({
      current_period_start: subscription.currentPeriodStart,
      current_period_end: subscription.currentPeriodEnd,
    });
    expect(Date.parse(subscription.currentPeriodStart)).toBeLessThanOrEqual(Date.now());
    expect(Date.parse(subscription.currentPeriodEnd)).toBeGreaterThan(Date.now());
  });

  it('lets one of two changes win that go by the same version', async () => {
    const { ana, orgId } = await world.org();
    const outcomes = await world.runUnderContention(
      { table: 'subscriptions', id: orgId, column: 'org_id' },
      () => ana.billing.updateSeats({ seats: 30, expectedVersion: 1 }),
      () => ana.billing.updateSeats({ seats: 40, expectedVersion: 1 }),
    );
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await ledgerOf(orgId)).toHaveLength(1);
  });

  it('does not sell the seat from under an invitation that is on its way', async () => {
    const { ana, ben, orgId } = await world.org();
    await ana.billing.updateSeats({ seats: 4 });
    const outcomes = await world.runUnderContention<unknown>(
      { table: 'streams', id: orgId, column: 'org_id' },
      () => ana.billing.updateSeats({ seats: 3 }),
      () => ben.members.invite({ email: 'noor@example.com' }),
    );
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
    const { used, pending, purchased } = (await ana.billing.seatUsage()).usage;
    expect(used + pending).toBeLessThanOrEqual(purchased);
  });
});

describe('the ledger', () => {
  it('cannot be rewritten by the service', async () => {
    const { ana, orgId } = await world.org();
    await ana.billing.updateSeats({ seats: 30 });
    for (const attempt of [
      'update seat_ledger set amount = 0',
      'delete from seat_ledger',
      'truncate seat_ledger',
    ])
      await expect(world.database.app.query(attempt)).rejects.toMatchObject({ code: '42501' });
    expect(await ledgerOf(orgId)).toHaveLength(1);
  });

  it('takes no line of a change that is none', async () => {
    const { orgId } = await world.org();
    const line = `insert into seat_ledger (org_id, id, version, at, actor, from_seats, to_seats, amount, currency, lines, period_start, period_end)
      values ($1, $2, 2, now(), '{}', 5, $3, 0, 'USD', '[]', now(), now())`;
    await expect(world.rows(line, orgId, newId(), 5)).rejects.toMatchObject({ code: '23514' });
    expect(await world.rows(line, orgId, newId(), 6)).toEqual([]);
  });
});
