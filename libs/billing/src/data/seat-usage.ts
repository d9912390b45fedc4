import { type Db, of, organization, sql } from '@muster/driver';
import { freeSeats, getSeats, type Seats } from '@muster/organizations';
import { type OrgRole, orgRoles, type SeatUsage } from '@muster/registry';

/** Counts the active members of each role. */
export async function countByRole(db: Db): Promise<Record<OrgRole, number>> {
  const rows = await db.all(
    sql<{
      role: OrgRole;
      count: number;
    }>`select role, count(*) as count from members where ${of()} and status = 'active' group by role`,
  );
  const counts = new Map(rows.map(({ role, count }) => [role, count]));
  const having = (role: OrgRole): number => counts.get(role) ?? 0;
  return {
    owner: having('owner'),
    admin: having('admin'),
    member: having('member'),
    viewer: having('viewer'),
  };
}

/** Returns the time of the worker's last seat count; undefined before the first one. */
export const findRecalculatedAt = async (db: Db): Promise<string | undefined> =>
  (await db.find(sql<{ recalculated_at: string }>`select recalculated_at from seat_usage where ${of()}`))
    ?.recalculated_at;

export interface Recalculation {
  readonly seats: Seats;
  /**
   * True if this count differs from the previous one in anything but reserved seats. The number of reserved
   * seats also falls without a call, when an invitation expires.
   */
  readonly hasChanged: boolean;
  /** True if no seat is free and the last count still had one. */
  readonly isNewlyExhausted: boolean;
}

interface StoredUsage extends Seats {
  readonly by_role: Record<OrgRole, number>;
}

/** Counts the seats, and stores the count. The first count of an organization is not a change. */
export async function recalculateSeats(db: Db): Promise<Recalculation> {
  const [before] = await db.all(
    sql<StoredUsage>`select purchased, used, pending, by_role from seat_usage where ${of()} for update`,
  );
  const [seats, byRole] = await Promise.all([getSeats(db), countByRole(db)]);
  const { purchased, used, pending } = seats;
  db.later(
    sql`insert into seat_usage (org_id, purchased, used, pending, by_role)
      values (${organization}, ${purchased}, ${used}, ${pending}, ${JSON.stringify(byRole)}::jsonb)
      on conflict (org_id) do update set purchased = excluded.purchased, used = excluded.used,
        pending = excluded.pending, by_role = excluded.by_role, recalculated_at = clock_timestamp()`,
  );
  return {
    seats,
    hasChanged:
      before !== undefined &&
      (before.purchased !== purchased ||
        before.used !== used ||
        orgRoles.some((role) => before.by_role[role] !== byRole[role])),
    isNewlyExhausted: freeSeats(seats) <= 0 && (before === undefined || freeSeats(before) > 0),
  };
}

export const toSeatUsage = (seats: Seats, byRole: Record<OrgRole, number>, at: string): SeatUsage => ({
  ...seats,
  available: Math.max(0, freeSeats(seats)),
  byRole,
  recalculatedAt: at,
});
