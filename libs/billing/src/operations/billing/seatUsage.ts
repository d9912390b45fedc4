import { getSeats } from '@muster/organizations';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { countByRole, toSeatUsage } from '../../data/seat-usage.ts';

export const seatUsage = handle(registry.billing.seatUsage, async ({ db, access }) => {
  const [seats, byRole, { at }] = await Promise.all([getSeats(db), countByRole(db), access()]);
  return { usage: toSeatUsage(seats, byRole, at) };
});
