/** Signals a fact of the forge to each execution that the fact could be about. */
import { type Db, orgFilter, sql } from '@muster/driver';
import { type Actor } from '@muster/contract';
import { appendEventsSql } from '../leases/events.ts';
import { isOpenSql } from '../leases/states-sql.ts';

/**
 * Appends the signal to the streams of those executions that are open. Locks executions by ID, as every
 * transaction does. Returns the number of signals.
 */
export const signalAmbiguousForgeFact = async (
  db: Db,
  actor: Actor,
  executionIds: readonly string[],
  data: Record<string, unknown>,
): Promise<number> =>
  (
    await db.all(
      sql<{ id: string }>`with w as materialized (
           select e.id from executions e where ${orgFilter('e')} and e.id = any (${executionIds}::uuid[]) and ${isOpenSql}
           order by e.id for no key update of e),
         u as (update executions e set last_event_seq = e.last_event_seq + 1 from w
           where ${orgFilter('e')} and e.id = w.id returning e.id, e.last_event_seq as seq)
         ${appendEventsSql(
           sql.part`(select u.id, u.seq, 'forge' as kind, ${JSON.stringify(data)}::jsonb as data, clock_timestamp() as at from u)`,
           actor,
         )} returning execution_id as id`,
    )
  ).length;
