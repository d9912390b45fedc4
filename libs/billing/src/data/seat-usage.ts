import { type Db, of, sql } from '@muster/database';
import { freeSeats, type Seats } from '@muster/organizations';
import { type OrgRole, type SeatUsage } from '@muster/registry';

/** How many active members have each role. */
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

export const toSeatUsage = (seats: Seats, byRole: Record<OrgRole, number>, at: string): SeatUsage => ({
  ...seats,
  available: Math.max(0, freeSeats(seats)),
  byRole,
  recalculatedAt: at,
});
