/**
 * Counts seats: of one organization after each change, and of all of them every night, which finds what a change did not
 * ask for. Whether a seat is free is decided by each operation for itself, under a lock; these counts are for people.
 */
import { aboutSubscription, getSubscription, type Recalculation, recalculateSeats } from '@muster/billing';
import { of, type PlainDb, type Pool, sql } from '@muster/driver';
import { notifySeatLimit } from '@muster/notifications';
import { acrossOrganizations, inOrganizationAsSystem, workerActor } from '@muster/tenancy';
import { type OrganizationWorker } from './perform.ts';

/** Counts the seats of an organization, and notifies its owner and admins where none is left any more. */
async function recalculate(db: PlainDb): Promise<Recalculation> {
  const recalculation = await recalculateSeats(db);
  if (recalculation.isNewlyExhausted)
    notifySeatLimit(db, workerActor, aboutSubscription(await getSubscription(db)));
  return recalculation;
}

export const recalculateSeatsOf: OrganizationWorker = async ({ db }) => {
  await recalculate(db);
};

export interface SeatReport {
  readonly orgId: string;
  readonly purchased: number;
  readonly used: number;
  readonly pending: number;
}

/**
 * Counts the seats of every organization. Reports as drifted those whose stored count was wrong though no change waits to be
 * counted, and as overdrawn those that hold more seats than they bought.
 */
export async function reconcileSeats(
  pool: Pool,
  signal: AbortSignal,
): Promise<{ drifted: SeatReport[]; overdrawn: SeatReport[] }> {
  const orgs = await acrossOrganizations(pool, (db) =>
    db.all(sql<{ id: string }>`select id from orgs where deleted_at is null order by id`),
  );
  const drifted: SeatReport[] = [];
  const overdrawn: SeatReport[] = [];
  for (const { id } of orgs) {
    signal.throwIfAborted();
    const { seats, hasChanged, isAwaited } = await inOrganizationAsSystem(pool, id, async (db) => {
      const { awaited } = await db.one(
        sql<{ awaited: boolean }>`select exists (
          select from outbox r where ${of('r')} and r.topic = 'seats.recalculate' and r.done_at is null) as awaited`,
      );
      return { ...(await recalculate(db)), isAwaited: awaited };
    });
    const report = { orgId: id, ...seats };
    if (hasChanged && !isAwaited) drifted.push(report);
    if (seats.used + seats.pending > seats.purchased) overdrawn.push(report);
  }
  return { drifted, overdrawn };
}
