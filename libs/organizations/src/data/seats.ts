/**
 * Seats: which members and invitations hold one. Calls that give a seat (an invitation, its acceptance, a role) and calls
 * that change how many there are go through lockSeats, and so take turns.
 */
import { type Selectable } from 'kysely';
import { type Db, type DB, of, sql } from '@muster/driver';
import { orgRoles } from '@muster/registry';
import { holdsSeat } from '../rules/role-changes.ts';

export interface Seats {
  readonly purchased: number;
  /** Held by members. */
  readonly used: number;
  /** Reserved by invitations. */
  readonly pending: number;
}

const seatRoles = sql.join(orgRoles.filter(holdsSeat));

/**
 * What holds a seat, stated once: each active owner, admin and member, and each pending invitation to be one until it
 * expires; never a viewer, nor an agent. By the clock and not by the transaction's time: a call that waited for the lock
 * must see what expired meanwhile.
 */
export const heldSeats = {
  used: sql.part`(select count(*) from members where ${of()} and status = 'active' and role in (${seatRoles}))`,
  pending: sql.part`(select count(*) from invitations
    where ${of()} and state = 'pending' and role in (${seatRoles}) and expires_at > clock_timestamp())`,
} as const;

const seatsOf = () =>
  sql<Seats>`select s.seats as purchased, ${heldSeats.used} as used, ${heldSeats.pending} as pending
     from subscriptions s where ${of('s')}`;

/** The seats as they are now; nothing is held. */
export const getSeats = (db: Db): Promise<Seats> => db.one(seatsOf());

/**
 * The seats, locked: no other transaction gives one or changes their number until this one ends. Take it before any lock on members
 * or invitations. Two statements on purpose: one that waits for a lock goes on seeing what was before the wait.
 */
export async function lockSeats(db: Db): Promise<Seats> {
  const [, seats] = await Promise.all([
    db.one(
      sql<
        Pick<Selectable<DB['subscriptions']>, 'org_id'>
      >`select org_id from subscriptions where ${of()} for no key update`,
    ),
    getSeats(db),
  ]);
  return seats;
}

/** How many can be given away; below zero where more are held than were bought. */
export const freeSeats = ({ purchased, used, pending }: Seats): number => purchased - used - pending;
