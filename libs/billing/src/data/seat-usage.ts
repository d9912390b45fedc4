import { type Db, orgFilter, currentOrgId, sql } from '@muster/driver';
import { countFreeSeats, getSeats, type SeatCounts } from '@muster/organizations';
import { type OrgRole, orgRoles, type SeatUsage } from '@muster/contract';

/** Counts the active members of each role. */
export async function countMembersByRole(db: Db): Promise<Record<OrgRole, number>> {
  const rows = await db.all(
    sql<{
      role: OrgRole;
      count: number;
    }>`select role, count(*) as count from members where ${orgFilter()} and status = 'active' group by role`,
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
export const findLastSeatCountTime = async (db: Db): Promise<string | undefined> =>
  (
    await db.find(
      sql<{ recalculated_at: string }>`select recalculated_at from seat_usage where ${orgFilter()}`,
    )
  )?.recalculated_at;

export interface SeatRecalculation {
  readonly seats: SeatCounts;
  /**
   * True if this count differs from the previous one in anything but reserved seats. The number of reserved
   * seats also falls without a call, when an invitation expires.
   */
  readonly hasChanged: boolean;
  /** True if no seat is free and the last count still had one. */
  readonly isNewlyExhausted: boolean;
}

interface StoredUsage extends SeatCounts {
  readonly by_role: Record<OrgRole, number>;
}

/** Counts the seats, and stores the count. The first count of an organization is not a change. */
export async function recalculateSeats(db: Db): Promise<SeatRecalculation> {
  const [before] = await db.all(
    sql<StoredUsage>`select purchased, used, pending, by_role from seat_usage where ${orgFilter()} for update`,
  );
  const [seats, byRole] = await Promise.all([getSeats(db), countMembersByRole(db)]);
  const { purchased, used, pending } = seats;
  db.deferToCommit(
    sql`insert into seat_usage (org_id, purchased, used, pending, by_role)
      values (${currentOrgId}, ${purchased}, ${used}, ${pending}, ${JSON.stringify(byRole)}::jsonb)
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
    isNewlyExhausted: countFreeSeats(seats) <= 0 && (before === undefined || countFreeSeats(before) > 0),
  };
}

export const toSeatUsage = (
  seats: SeatCounts,
  byRole: Record<OrgRole, number>,
  countedAt: string,
): SeatUsage => ({
  ...seats,
  available: Math.max(0, countFreeSeats(seats)),
  byRole,
  recalculatedAt: countedAt,
});
