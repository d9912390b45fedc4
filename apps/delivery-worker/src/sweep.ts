/**
 * The end of a lease's time, made known: an event in the stream of its execution and in the activity, and a notification
 * for its holder. The state `stalled` shows it without this too, so only the news waits for a worker. From Postgres alone.
 *
 * Each lease's row says when to look at it next, and whether its expiry was noted, in the transaction that notes it; sweeps
 * take turns by `skip locked`. So any number of them may run, and one that dies in the middle leaves nothing but what the next
 * one does.
 */
import { type Noted, noteExpiries, type Unit } from '@muster/delivery';
import { type Pool, type Query, sql } from '@muster/driver';
import { reactions } from '@muster/operations';
import { conclude } from '@muster/runtime';
import {
  acrossOrganizations,
  inOrganizationAsSystem,
  isSettled,
  systemFacts,
  workerActor,
} from '@muster/tenancy';

/** Not zero, so that leases which another worker has locked are not asked for again and again. */
export const shortestPauseMillis = 100;
/** No lease is shorter, so each that ends before the next turn is known to this one. */
export const longestPauseMillis = 5_000;
/** Leases in one look; each organization's share of it is one transaction. */
const batchSize = 200;

interface Due extends Unit {
  readonly orgId: string;
}

const dueUnits = (failed: readonly string[]): Query<Due> => sql<Due>`
  select org_id as "orgId", unit_type as "unitType", unit_id as "unitId" from leases
  where state = 'held' and not expiry_noted and /*guard: expiry is looked for in time*/due_at <= now()/*end*/ and org_id <> all (${failed}::uuid[])
    and ${isSettled(sql.part`org_id`)}
  order by due_at limit ${batchSize}`;

const nextLook = sql<{ millis: number | null }>`
  select (extract(epoch from min(due_at) - clock_timestamp()) * 1000)::float as millis
  from leases where state = 'held' and not expiry_noted and ${isSettled(sql.part`org_id`)}`;

/**
 * One turn: notes what is past its time, and answers how many milliseconds it is until more will be. What fails in one
 * organization holds up no other; it is thrown when all had their turn.
 */
export async function sweep(
  pool: Pool,
  onNoted: (expiries: number) => void = () => undefined,
): Promise<number> {
  const failed = new Set<string>();
  const faults: unknown[] = [];
  for (;;) {
    const due = await acrossOrganizations(pool, (db) => db.all(dueUnits([...failed])));
    let progress = false;
    for (const [orgId, units] of Map.groupBy(due, (one) => one.orgId)) {
      try {
        const { seen, domainEvents } = await noteIn(pool, orgId, units);
        onNoted(domainEvents.length);
        if (seen > 0) progress = true;
      } catch (error) {
        faults.push(error);
        failed.add(orgId);
        progress = true;
      }
    }
    // Nothing is due, or others are at it.
    if (!progress) break;
  }
  if (faults.length > 0) throw new AggregateError(faults, 'some expiries could not be noted');
  const next = await acrossOrganizations(pool, (db) => db.one(nextLook));
  return Math.min(
    Math.max(Math.ceil(next.millis ?? longestPauseMillis), shortestPauseMillis),
    longestPauseMillis,
  );
}

const noteIn = (pool: Pool, orgId: string, units: readonly Unit[]): Promise<Noted> =>
  inOrganizationAsSystem(pool, orgId, async (db) => {
    const noted = await noteExpiries(db, units, workerActor);
    const { domainEvents } = noted;
    if (domainEvents.length === 0) return noted;
    const facts = systemFacts('worker.noteExpiries', null);
    await conclude(db, { orgId, actor: workerActor, domainEvents, facts }, reactions);
    return noted;
  });
