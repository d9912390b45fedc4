/** The retention rule of each table of the service. A spec fails if a table has none. */
import { sql } from '@muster/driver';
import { type Db } from './transaction.ts';

export interface TableRetention {
  readonly kept: 'for good' | 'purged';
  readonly because: string;
}

const forGood = (because: string): TableRetention => ({ kept: 'for good', because });

export const retention: Readonly<Record<string, TableRetention>> = {
  applied_migrations: forGood('one for each migration'),
  license_denials: {
    kept: 'purged',
    because: 'one for each license, day and outcome; operators ask for 30 days',
  },
  license_events: forGood(
    'nobody may change the trail; who holds a key adds no more than its transfers and activations',
  ),
  license_machines: forGood('one for each slot of a license, at most 1,000'),
  licenses: forGood('it is what was sold'),
  operator_flows: {
    kept: 'purged',
    because: 'a quarter of an hour; the service removes those that no browser came back from',
  },
  operator_grants: forGood('operators make them, and it is asked who could see what'),
  operator_sessions: {
    kept: 'purged',
    because: 'the service removes those that were over 30 days ago',
  },
  operator_tokens: forGood('events name the token that did it'),
  plans: forGood('operators make them'),
  products: forGood('operators make them'),
  secrets: forGood('two at most'),
  signing_keys: forGood('a certificate names the key that signed it'),
  trials: forGood('a trial that has ended must not begin anew; an address begins a few dozen an hour'),
  webhook_deliveries: {
    kept: 'purged',
    because: 'the service removes those that were settled 30 days ago, and those of an endpoint with it',
  },
  webhook_endpoints: forGood('operators make and delete them'),
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
