import { type Db, sqlQuery } from '@muster/database';
import { freeSeats, type Seats } from '@muster/people';
import { type OrgRole, type SeatUsage } from '@muster/registry';

/** How many active members have each role. */
export async function countByRole(db: Db, orgId: string): Promise<Record<OrgRole, number>> {
  const rows = await db.all(
    sqlQuery<{ role: OrgRole; count: number }>(
      `select role, count(*) as count from members where org_id = $1 and status = 'active' group by role`,
      [orgId],
    ),
  );
  const counts = new Map(rows.map(({ role, count }) => [role, count]));
  const of = (role: OrgRole): number => counts.get(role) ?? 0;
  return { owner: of('owner'), admin: of('admin'), member: of('member'), viewer: of('viewer') };
}

export const toSeatUsage = (seats: Seats, byRole: Record<OrgRole, number>, at: string): SeatUsage => ({
  ...seats,
  available: Math.max(0, freeSeats(seats)),
  byRole,
  recalculatedAt: at,
});
