/**
 * Seats, which members hold and invitations reserve. All calls that take a seat (invitation, acceptance,
 * change of role) or change the number of seats are serialized by lockSeats.
 */
import { type Selectable } from 'kysely';
import { type Db, type DB, of, sql } from '@muster/driver';
import { orgRoles } from '@muster/registry';
import { holdsSeat } from '../rules/role-changes.ts';

export interface Seats {
  readonly purchased: number;
  /** The number of seats that members hold. */
  readonly used: number;
  /** The number of seats that invitations reserve. */
  readonly pending: number;
}

const seatRoles = sql.join(orgRoles.filter(holdsSeat));

/**
 * The only definition of the seats in use. Each active owner, admin and member holds one seat. Each pending
 * invitation with such a role reserves one until it expires. Viewers and agents need no seat. The SQL uses
 * the clock instead of the transaction's start time, so a call that waited for the lock sees which
 * invitations expired during the wait.
 */
export const heldSeats = {
  used: sql.part`(select count(*) from members where ${of()} and status = 'active' and role in (${seatRoles}))`,
  pending: sql.part`(select count(*) from invitations
    where ${of()} and state = 'pending' and role in (${seatRoles}) and expires_at > clock_timestamp())`,
} as const;

const seatsOf = () =>
  sql<Seats>`select s.seats as purchased, ${heldSeats.used} as used, ${heldSeats.pending} as pending
     from subscriptions s where ${of('s')}`;

/** Answers the current seats without a lock. */
export const getSeats = (db: Db): Promise<Seats> => db.one(seatsOf());

/**
 * Locks the seats and answers them. Until this transaction ends, no other one can take a seat or change their
 * number. Take this lock before any lock on members or invitations. It needs two statements, because a
 * statement that waits for a lock still sees the data from before the wait.
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

/** Answers the number of free seats. It is negative if more seats are in use than purchased. */
export const freeSeats = ({ purchased, used, pending }: Seats): number => purchased - used - pending;
