/**
 * Seats are counted from who holds them, each time that one is given away: nothing is stored that could drift. What can
 * be is that more are held than were bought, and that is for people to see.
 */
import { acrossOrganizations, inOrganizationAsSystem, of, type Pool, sql } from '@muster/database';
import { heldSeats } from '@muster/organizations';

export interface Overdrawn {
  readonly orgId: string;
  readonly purchased: number;
  readonly used: number;
  readonly pending: number;
}

/** The organizations in which members and invitations hold more seats than were bought. */
export async function findOverdrawn(pool: Pool, signal: AbortSignal): Promise<Overdrawn[]> {
  const orgs = await acrossOrganizations(pool, (db) =>
    db.all(sql<{ id: string }>`select id from orgs where deleted_at is null order by id`),
  );
  const overdrawn: Overdrawn[] = [];
  for (const { id } of orgs) {
    signal.throwIfAborted();
    const seats = await inOrganizationAsSystem(pool, id, (db) =>
      db.find(
        sql<
          Omit<Overdrawn, 'orgId'>
        >`select s.seats as purchased, ${heldSeats.used} as used, ${heldSeats.pending} as pending
          from subscriptions s where ${of('s')}`,
      ),
    );
    if (seats !== undefined && seats.used + seats.pending > seats.purchased)
      overdrawn.push({ orgId: id, ...seats });
  }
  return overdrawn;
}
