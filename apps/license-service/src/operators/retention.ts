/** The retention rule of each table of the service. A spec fails if a table has none. */
import { sql } from '@muster/driver';
import { type Db } from './transaction.ts';

export interface TableRetention {
  readonly kept: 'for good' | 'purged';
  readonly because: string;
}

const forGood = (because: string): TableRetention => ({ kept: 'for good', because });

export const retention: Readonly<Record<string, TableRetention>> = {
  applied_migrations: forGood('one row for each migration'),
  license_denials: {
    kept: 'purged',
    because: 'one row for each license, day and outcome; operators look at the last 30 days',
  },
  license_events: forGood(
    'nobody may change the trail; who holds a key adds no more than its transfers and activations',
  ),
  license_machines: forGood('one row for each slot of a license; a license has at most 1,000 slots'),
  licenses: forGood('a license is a record of what was sold'),
  operator_flows: {
    kept: 'purged',
    because:
      'a sign-in may take a quarter of an hour; the service removes sign-ins that were not completed by then',
  },
  operator_grants: forGood(
    'operators create the grants, and auditors may ask later who was allowed to see what',
  ),
  operator_sessions: {
    kept: 'purged',
    because: 'the service removes sessions 30 days after they ended',
  },
  operator_tokens: forGood('each event names the token that caused the event'),
  plans: forGood('operators create these rows'),
  products: forGood('operators create these rows'),
  secrets: forGood('at most two rows'),
  signing_keys: forGood('a certificate names the key that signed it'),
  trials: forGood('a trial that has ended must not begin anew; an address begins a few dozen an hour'),
  webhook_deliveries: {
    kept: 'purged',
    because:
      'the service removes a delivery 30 days after its outcome is known, and all deliveries of an endpoint with the endpoint',
  },
  webhook_endpoints: forGood('operators create and delete endpoints'),
};

/** The most rows that one transaction deletes. */
const portion = 2_000;

/**
 * Deletes a batch of refusal counts that are older than `days` days, the oldest first. `isMore` is true if
 * more of them may remain.
 */
export async function purgeDenials(db: Db, days: number): Promise<{ rows: number; isMore: boolean }> {
  const gone = await db.all(sql`delete from licenses.license_denials d using (
       select license_id, day, outcome from licenses.license_denials
       where day < (clock_timestamp() at time zone 'UTC')::date - ${days}::int
       order by day limit ${portion}) old
     where d.license_id = old.license_id and d.day = old.day and d.outcome = old.outcome returning 1`);
  return { rows: gone.length, isMore: gone.length === portion };
}
