/**
 * Counts seats: of one organization after each change, and of all organizations nightly, to find missed
 * changes. Operations check free seats themselves under a lock; these counts are only for display.
 */
import {
  toSubscriptionEventSubject,
  getSubscription,
  type SeatRecalculation,
  recalculateSeats,
} from '@muster/billing';
import { orgFilter, type PlainDb, type Pool, sql } from '@muster/driver';
import { notifyNoSeatsLeft } from '@muster/notifications';
import { acrossOrganizations, inOrganizationAsSystem, workerActor } from '@muster/tenancy';
import { type OrganizationWorker } from './perform.ts';

/** Counts the seats of an organization, and notifies its owner and admins when the last one is taken. */
async function recalculateAndNotify(db: PlainDb): Promise<SeatRecalculation> {
  const recalculation = await recalculateSeats(db);
  if (recalculation.isNewlyExhausted)
    notifyNoSeatsLeft(db, workerActor, toSubscriptionEventSubject(await getSubscription(db)));
  return recalculation;
}

export const recalculateSeatsOf: OrganizationWorker = async ({ db }) => {
  await recalculateAndNotify(db);
};

export interface SeatReport {
  readonly orgId: string;
  readonly purchased: number;
  readonly used: number;
  readonly pending: number;
}

/**
 * Counts the seats of every organization. `drifted` lists those whose stored count was wrong although no
 * recount was pending. `overdrawn` lists those with more held and reserved seats than purchased ones.
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
          select from outbox r where ${orgFilter('r')} and r.topic = 'seats.recalculate' and r.done_at is null) as awaited`,
      );
      return { ...(await recalculateAndNotify(db)), isAwaited: awaited };
    });
    const report = { orgId: id, ...seats };
    if (hasChanged && !isAwaited) drifted.push(report);
    if (seats.used + seats.pending > seats.purchased) overdrawn.push(report);
  }
  return { drifted, overdrawn };
}
