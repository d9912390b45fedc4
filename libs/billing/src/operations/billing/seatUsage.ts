import { getSeats } from '@muster/organizations';
import { billingRegistry } from '@muster/billing-registry';
import { handle } from '@muster/runtime';
import { countMembersByRole, findLastSeatCountTime, toSeatUsage } from '../../data/seat-usage.ts';

export const seatUsage = handle(billingRegistry.billing.seatUsage, async ({ db, access }) => {
  const [seats, byRole, recalculatedAt, { at }] = await Promise.all([
    getSeats(db),
    countMembersByRole(db),
    findLastSeatCountTime(db),
    access(),
  ]);
  return { usage: toSeatUsage(seats, byRole, recalculatedAt ?? at) };
});
