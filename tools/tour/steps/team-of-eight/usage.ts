import { type Check } from '../../check.ts';
import { type Eight, person } from './eight.ts';

interface Seats {
  readonly purchased: number;
  readonly used: number;
  readonly pending: number;
}

/** The seats are these, by each operation that counts them, and they add up. */
export async function checkUsage(eight: Eight, found: Check, wanted: Seats): Promise<void> {
  const { api } = person(eight, 'Hanna');
  const { usage } = await api.billing.seatUsage();
  const { purchased, used, pending, available, byRole } = usage;
  found.same({ purchased, used, pending }, wanted, 'the usage of seats');
  found.same(available, purchased - used - pending, 'the number of free seats');
  const { owner, admin, member } = byRole;
  found.same(owner + admin + member, used, 'the number of those who hold a seat, by role');
  const { entitlement } = await api.billing.orgEntitlement();
  found.same(entitlement.usage.seats, used + pending, 'the seats in use by the entitlement');
}
