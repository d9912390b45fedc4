/** The retention rule of each table of the service. A spec fails if a table has none. */
import { sql } from '@muster/driver';
import { type Db } from './transaction.ts';

export interface TableRetention {
  readonly policy: 'for good' | 'purged';
  readonly reason: string;
}

const keepForever = (reason: string): TableRetention => ({ policy: 'for good', reason });

export const retention: Readonly<Record<string, TableRetention>> = {
  applied_migrations: keepForever('one row for each migration'),
  license_denials: {
    policy: 'purged',
    reason: 'one row for each license, day and outcome; operators look at the last 30 days',
  },
  license_events: keepForever(
    'nobody may change the trail; who holds a key adds no more than its transfers and activations',
  ),
  license_machines: keepForever('one row for each slot of a license; a license has at most 1,000 slots'),
  license_usage: {
    policy: 'purged',
    reason: 'one row for each license, meter and month; operators bill the last months',
  },
  license_usage_events: {
    policy: 'purged',
    reason: 'the service removes the id of an event after 37 days, when it can no longer be reported',
  },
  licenses: keepForever('a license is a record of what was sold'),
  operator_flows: {
    policy: 'purged',
    reason:
      'a sign-in may take a quarter of an hour; the service removes sign-ins that were not completed by then',
  },
  operator_grants: keepForever(
    'operators create the grants, and auditors may ask later who was allowed to see what',
  ),
  operator_sessions: {
    policy: 'purged',
    reason: 'the service removes sessions 30 days after they ended',
  },
  operator_tokens: keepForever('each event names the token that caused the event'),
  plans: keepForever('operators create these rows'),
  products: keepForever('operators create these rows'),
  releases: keepForever('operators publish these rows; programs may be asked for any version that was sold'),
  secrets: keepForever('at most two rows'),
  signing_keys: keepForever('a certificate names the key that signed it'),
  trials: keepForever('a trial that has ended must not begin anew; an address begins a few dozen an hour'),
  webhook_deliveries: {
    policy: 'purged',
    reason:
      'the service removes a delivery 30 days after its outcome is known, and all deliveries of an endpoint with the endpoint',
  },
  webhook_endpoints: keepForever('operators create and delete endpoints'),
};

/** The most rows that one transaction deletes. */
const deleteBatchRows = 2_000;

/**
 * Deletes a batch of refusal counts that are older than `days` days, the oldest first. `isMore` is true if
 * more of them may remain.
 */
export async function purgeDenials(db: Db, keptDays: number): Promise<{ rows: number; isMore: boolean }> {
  const gone = await db.all(sql`delete from licenses.license_denials d using (
       select license_id, day, outcome from licenses.license_denials
       where day < (clock_timestamp() at time zone 'UTC')::date - ${keptDays}::int
       order by day limit ${deleteBatchRows}) old
     where d.license_id = old.license_id and d.day = old.day and d.outcome = old.outcome returning 1`);
  return { rows: gone.length, isMore: gone.length === deleteBatchRows };
}

/** Deletes a batch of usage of months that ended more than `days` days ago. Usage in total stays. */
export async function purgeUsage(db: Db, keptDays: number): Promise<{ rows: number; isMore: boolean }> {
  const gone = await db.all(sql`delete from licenses.license_usage u using (
       select license_id, meter, period from licenses.license_usage
       where period <> 'total' and period < to_char((clock_timestamp() at time zone 'UTC')::date - ${keptDays}::int, 'YYYY-MM')
       order by period limit ${deleteBatchRows}) old
     where u.license_id = old.license_id and u.meter = old.meter and u.period = old.period returning 1`);
  return { rows: gone.length, isMore: gone.length === deleteBatchRows };
}
