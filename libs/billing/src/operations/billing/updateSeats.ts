import { nextVersion, requireVersion } from '@muster/driver';
import { getSeats, lockSeats, planLimits } from '@muster/organizations';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { countByRole, findRecalculatedAt, toSeatUsage } from '../../data/seat-usage.ts';
import {
  aboutSubscription,
  getSubscription,
  insertLedgerLine,
  periodOf,
  setSubscription,
  toSubscription,
} from '../../data/subscriptions.ts';
import { type SeatPrices } from '../../rules/prices.ts';
import { prorate } from '../../rules/proration.ts';

export const updateSeats = (prices: SeatPrices) =>
  handle(registry.billing.updateSeats, async (context) => {
    const { params, caller, db, access, emit, refuse, changedNothing } = context;
    const { seats: wanted, expectedVersion, preview } = params;
    const [seats, subscription, byRole, counted, { at }] = await Promise.all([
      // A preview assigns no seats, so it takes no lock and no other caller waits for it.
      preview ? getSeats(db) : lockSeats(db),
      getSubscription(db),
      countByRole(db),
      findRecalculatedAt(db),
      access(),
    ]);
    const { plan } = subscription;
    const recalculatedAt = counted ?? at;
    requireVersion(subscription, expectedVersion);

    const change = { from: subscription.seats, to: wanted };
    const period = periodOf(subscription, at);
    const proration = prorate(prices[plan], change, period, at);
    const asItIs = {
      subscription: toSubscription(subscription, period),
      usage: toSeatUsage(seats, byRole, recalculatedAt),
      proration,
    };
    if (preview) changedNothing();
    if (change.from === change.to) return asItIs;
    const { seats: most } = planLimits(plan);
    if (most !== null && wanted > most) throw refuse('limit_exceeded', { plan, limit: most });
    if (wanted < seats.used + seats.pending) throw refuse('seats_in_use', { ...seats });
    if (preview) return asItIs;

    const moved = { seats: wanted, current_period_start: period.start, current_period_end: period.end };
    const changed = nextVersion(subscription, moved, at);
    db.later(setSubscription(changed));
    db.later(insertLedgerLine(changed, { actor: caller.actor, fromSeats: change.from, proration }));
    emit('seats.changed', aboutSubscription(changed), change);
    return {
      subscription: toSubscription(changed, period),
      usage: toSeatUsage({ ...seats, purchased: wanted }, byRole, recalculatedAt),
      proration,
    };
  });
