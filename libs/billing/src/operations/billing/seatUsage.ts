import { getSeats } from '@muster/people';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { countByRole, toSeatUsage } from '../../data/seat-usage.ts';

export const seatUsage = handle(registry.billing.seatUsage, async ({ caller, db, access }) => {
  const [seats, byRole, { at }] = await Promise.all([
    getSeats(db, caller.orgId),
    countByRole(db, caller.orgId),
    access(),
  ]);
  return { usage: toSeatUsage(seats, byRole, at) };
});
