import { withNextVersion, requireVersion } from '@muster/driver';
import { getSeats, lockSeats, planLimits } from '@muster/organizations';
import { billingRegistry } from '@muster/billing-registry';
import { handle } from '@muster/runtime';
import { countMembersByRole, findLastSeatCountTime, toSeatUsage } from '../../data/seat-usage.ts';
import {
  toSubscriptionEventSubject,
  getSubscription,
  insertLedgerLine,
  getBillingPeriod,
  updateSubscription,
  toSubscription,
} from '../../data/subscriptions.ts';
import { type SeatPrices } from '../../rules/prices.ts';
import { prorate } from '../../rules/proration.ts';

export const createUpdateSeatsHandler = (prices: SeatPrices) =>
  handle(billingRegistry.billing.updateSeats, async (context) => {
    const { params, caller, db, access, emit, refuse, reportNoChange } = context;
    const { seats: wanted, expectedVersion, preview } = params;
    const [seats, subscription, byRole, counted, { at }] = await Promise.all([
      // A preview assigns no seats, so it takes no lock and no other caller waits for it.
      preview ? getSeats(db) : lockSeats(db),
      getSubscription(db),
      countMembersByRole(db),
      findLastSeatCountTime(db),
      access(),
    ]);
    const { plan } = subscription;
    const recalculatedAt = counted ?? at;
    requireVersion(subscription, expectedVersion);

    const change = { from: subscription.seats, to: wanted };
    const period = getBillingPeriod(subscription, at);
    const proration = prorate(prices[plan], change, period, at);
    const asItIs = {
      subscription: toSubscription(subscription, period),
      usage: toSeatUsage(seats, byRole, recalculatedAt),
      proration,
    };
    if (preview) reportNoChange();
    if (change.from === change.to) return asItIs;
    const { seats: most } = planLimits(plan);
    if (most !== null && wanted > most) throw refuse('limit_exceeded', { plan, limit: most });
    if (wanted < seats.used + seats.pending) throw refuse('seats_in_use', { ...seats });
    if (preview) return asItIs;

    const moved = { seats: wanted, current_period_start: period.start, current_period_end: period.end };
    const changed = withNextVersion(subscription, moved, at);
    db.deferToCommit(updateSubscription(changed));
    db.deferToCommit(insertLedgerLine(changed, { actor: caller.actor, fromSeats: change.from, proration }));
    emit('seats.changed', toSubscriptionEventSubject(changed), change);
    return {
      subscription: toSubscription(changed, period),
      usage: toSeatUsage({ ...seats, purchased: wanted }, byRole, recalculatedAt),
      proration,
    };
  });
