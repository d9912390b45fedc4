/**
 * Seats, which members hold and invitations reserve. All calls that take a seat (invitation, acceptance,
 * change of role) or change the number of seats are serialized by lockSeats.
 */
import { type Selectable } from 'kysely';
import { type Db, type DB, orgFilter, sql } from '@muster/driver';
import { orgRoles } from '@muster/contract';
import { roleNeedsSeat } from '../rules/role-changes.ts';

export interface SeatCounts {
  readonly purchased: number;
  /** The number of seats that members hold. */
  readonly used: number;
  /** The number of seats that invitations reserve. */
  readonly pending: number;
}

const seatRoles = sql.join(orgRoles.filter(roleNeedsSeat));

/**
 * The only definition of the seats in use. Each active owner, admin and member holds one seat. Each pending
 * invitation with such a role reserves one until it expires. Viewers and agents need no seat. The SQL uses
 * the clock instead of the transaction's start time, so a call that waited for the lock sees which
 * invitations expired during the wait.
 */
export const seatCountQueries = {
  used: sql.part`(select count(*) from members where ${orgFilter()} and status = 'active' and role in (${seatRoles}))`,
  pending: sql.part`(select count(*) from invitations
    where ${orgFilter()} and state = 'pending' and role in (${seatRoles}) and expires_at > clock_timestamp())`,
} as const;

const seatsQuery = () =>
  sql<SeatCounts>`select s.seats as purchased, ${seatCountQueries.used} as used, ${seatCountQueries.pending} as pending
     from subscriptions s where ${orgFilter('s')}`;

/** Returns the current seats without a lock. */
export const getSeats = (db: Db): Promise<SeatCounts> => db.one(seatsQuery());

/**
 * Locks the seats and returns them. Until this transaction ends, no other one can take a seat or change their
 * number. Take this lock before any lock on members or invitations. It needs two statements, because a
 * statement that waits for a lock still sees the data from before the wait.
 */
export async function lockSeats(db: Db): Promise<SeatCounts> {
  const [, seats] = await Promise.all([
    db.one(
      sql<
        Pick<Selectable<DB['subscriptions']>, 'org_id'>
      >`select org_id from subscriptions where ${orgFilter()} for no key update`,
    ),
    getSeats(db),
  ]);
  return seats;
}

/** Returns the number of free seats. It is negative if more seats are in use than purchased. */
export const countFreeSeats = ({ purchased, used, pending }: SeatCounts): number =>
  purchased - used - pending;
