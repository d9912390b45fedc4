/**
 * Seats: who holds one, and how one is given away. Whoever is about to give one (an invitation, its acceptance, a
 * role) and whoever changes how many there are goes through lockSeats, and so takes turns with all others.
 */
import { type Db, query, sqlQuery } from '@muster/database';
import { orgRoles } from '@muster/registry';
import { holdsSeat } from '../rules/role-changes.ts';

export interface Seats {
  readonly purchased: number;
  /** Held by members. */
  readonly used: number;
  /** Reserved by invitations. */
  readonly pending: number;
}

const seatRoles = orgRoles
  .filter(holdsSeat)
  .map((role) => `'${role}'`)
  .join(', ');

/**
 * What holds a seat, stated once: each active owner, admin and member, and each pending invitation to be one until it
 * expires; never a viewer, nor an agent. By the clock and not by the transaction's time: who waited for the lock
 * must see what expired meanwhile, as whoever was before it did.
 */
export const heldSeats = {
  used: `(select count(*) from members where org_id = $1 and status = 'active' and role in (${seatRoles}))`,
  pending: `(select count(*) from invitations
    where org_id = $1 and state = 'pending' and role in (${seatRoles}) and expires_at > clock_timestamp())`,
} as const;

const seatsOf = (orgId: string) =>
  sqlQuery<Seats>(
    `select s.seats as purchased, ${heldSeats.used} as used, ${heldSeats.pending} as pending
     from subscriptions s where s.org_id = $1`,
    [orgId],
  );

/** The seats as they are now; nothing is held. */
export const getSeats = (db: Db, orgId: string): Promise<Seats> => db.one(seatsOf(orgId));

/**
 * The seats, which nobody else gives away or changes until this transaction ends. Take it before any lock on members
 * or invitations. Two statements on purpose: one that waits for a lock goes on seeing what was before the wait.
 */
export async function lockSeats(db: Db, orgId: string): Promise<Seats> {
  const [, seats] = await Promise.all([
    db.one(query.selectFrom('subscriptions').select('org_id').where('org_id', '=', orgId).forNoKeyUpdate()),
    getSeats(db, orgId),
  ]);
  return seats;
}

/** How many can be given away; below zero where more are held than were bought. */
export const freeSeats = ({ purchased, used, pending }: Seats): number => purchased - used - pending;
