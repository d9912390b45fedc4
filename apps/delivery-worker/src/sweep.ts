/**
 * Records expired leases: an event in the execution's stream and in the activity, and a notification for the
 * holder. Readers see the state `stalled` as soon as a lease expires; only the events wait for a worker. A
 * sweep needs only Postgres.
 *
 * Each lease row stores when to check the lease next and whether its expiry was recorded, in the same
 * transaction. Sweeps use `skip locked`, so several may run at the same time. If a sweep is interrupted, the
 * next sweep records the remaining expiries.
 */
import { type ExpiryResult, recordExpiries, type LeasedUnit } from '@muster/delivery';
import { type Pool, type Query, sql } from '@muster/driver';
import { reactions } from '@muster/operations';
import { runReactionsAndWriteTrail } from '@muster/runtime';
import {
  acrossOrganizations,
  inOrganizationAsSystem,
  notMovingCondition,
  systemAuditFacts,
  workerActor,
} from '@muster/tenancy';

/** Not zero, so that leases locked by another worker are not queried in a tight loop. */
export const minSweepDelayMillis = 100;
/**
 * The longest delay between two sweeps, in milliseconds. No lease is shorter than this delay, so each sweep
 * sees every lease that expires before the next sweep.
 */
export const maxSweepDelayMillis = 5_000;
/** Maximum number of leases per query. Each organization among them gets one transaction. */
const batchSize = 200;

interface DueLease extends LeasedUnit {
  readonly orgId: string;
}

const selectDueLeases = (failedOrgIds: readonly string[]): Query<DueLease> => sql<DueLease>`
  select org_id as "orgId", unit_type as "unitType", unit_id as "unitId" from leases
  where state = 'held' and not expiry_noted and /*guard: expiry is looked for in time*/due_at <= now()/*end*/ and org_id <> all (${failedOrgIds}::uuid[])
    and ${notMovingCondition(sql.part`org_id`)}
  order by due_at limit ${batchSize}`;

const selectMillisUntilNextExpiry = sql<{ millis: number | null }>`
  select (extract(epoch from min(due_at) - clock_timestamp()) * 1000)::float as millis
  from leases where state = 'held' and not expiry_noted and ${notMovingCondition(sql.part`org_id`)}`;

/**
 * Runs one turn: records expired leases, and returns the milliseconds until the next expiry. A failure in one
 * organization does not stop the others; it is thrown at the end.
 */
export async function sweepExpiredLeases(
  pool: Pool,
  onRecorded: (expiries: number) => void = () => undefined,
): Promise<number> {
  const failed = new Set<string>();
  const faults: unknown[] = [];
  for (;;) {
    const due = await acrossOrganizations(pool, (db) => db.all(selectDueLeases([...failed])));
    let progress = false;
    for (const [orgId, units] of Map.groupBy(due, (one) => one.orgId)) {
      try {
        const { checkedCount, domainEvents } = await recordExpiriesIn(pool, orgId, units);
        onRecorded(domainEvents.length);
        if (checkedCount > 0) progress = true;
      } catch (error) {
        faults.push(error);
        failed.add(orgId);
        progress = true;
      }
    }
    // No expired lease is left, or other workers have locked all expired leases.
    if (!progress) break;
  }
  if (faults.length > 0) throw new AggregateError(faults, 'some expired leases could not be recorded');
  const next = await acrossOrganizations(pool, (db) => db.one(selectMillisUntilNextExpiry));
  return Math.min(
    Math.max(Math.ceil(next.millis ?? maxSweepDelayMillis), minSweepDelayMillis),
    maxSweepDelayMillis,
  );
}

const recordExpiriesIn = (pool: Pool, orgId: string, units: readonly LeasedUnit[]): Promise<ExpiryResult> =>
  inOrganizationAsSystem(pool, orgId, async (db) => {
    const noted = await recordExpiries(db, units, workerActor);
    const { domainEvents } = noted;
    if (domainEvents.length === 0) return noted;
    const facts = systemAuditFacts('worker.noteExpiries', null);
    await runReactionsAndWriteTrail(db, { orgId, actor: workerActor, domainEvents, facts }, reactions);
    return noted;
  });
