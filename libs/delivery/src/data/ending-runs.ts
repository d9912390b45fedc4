/**
 * Updates runs when the work that they hold changes hands or ends. Each statement follows the one that writes
 * the lease.
 */
import { type Db, orgFilter, type Part, type Query, sql } from '@muster/driver';
import { type Actor, type FinalRunState } from '@muster/contract';
import { isoTimeSql } from '@muster/tenancy';
import { isHeldSql, isOpenSql } from '../leases/states-sql.ts';

const setRunEndedSql = (
  state: FinalRunState,
): Part => sql.part`state = ${state}, ended_at = clock_timestamp(),
  last_seen_at = clock_timestamp(),
  last_event = jsonb_build_object('kind', ${state}::text, 'message', null, 'data', jsonb_build_object('executionId', e.id),
    'at', ${isoTimeSql(sql.part`clock_timestamp()`)})`;

/** Ties the new holder's run to the execution. */
export const linkRunToExecution = (executionId: unknown, { memberId, agentId }: Actor): Query<unknown> =>
  sql`update agent_runs r set execution_id = e.id,
       story_id = case when e.target_type = 'story' then e.target_id else r.story_id end
     from executions e
     where ${orgFilter('e')} and e.id = ${executionId} and ${orgFilter('r')} and r.project_id = e.project_id and r.run_id = e.run_id
       and r.member_id = ${memberId} and r.agent_id is not distinct from ${agentId} and r.ended_at is null`;

/** Ends the run that lost the execution. The execution's row already has the new holder's run. */
export const endReplacedRun = (
  executionId: unknown,
  previousHolder: { readonly memberId: unknown; readonly agentId: unknown },
): Query<unknown> =>
  sql`update agent_runs r set ${setRunEndedSql('canceled')}
     from executions e
     where ${orgFilter('e')} and e.id = ${executionId} and ${orgFilter('r')} and r.execution_id = e.id and r.ended_at is null
       and r.member_id = ${previousHolder.memberId} and r.agent_id is not distinct from ${previousHolder.agentId} and r.run_id is distinct from e.run_id`;

/**
 * Ends the run that last held an ended execution. If the holder named no run, it ends all runs that named the
 * execution.
 */
export const endRunOfExecution = (executionId: unknown, state: FinalRunState): Query<unknown> =>
  sql`update agent_runs r set ${setRunEndedSql(state)}
     from executions e
     where ${orgFilter('e')} and e.id = ${executionId} and ${orgFilter('r')} and r.execution_id = e.id and r.ended_at is null
       and (e.run_id is null or r.run_id = e.run_id)`;

/** Ends the runs on canceled or deleted stories. Send it before the statement that ends the executions. */
export const endRunsOnStories = (storyIds: readonly string[]): Query<unknown> =>
  sql`update agent_runs r set ${setRunEndedSql('canceled')}
     from executions e
     where ${orgFilter('e')} and e.target_type = 'story' and e.target_id = any (${storyIds}::uuid[]) and ${isOpenSql}
       and ${orgFilter('r')} and r.execution_id = e.id and r.ended_at is null
       and (e.run_id is null or r.run_id = e.run_id)`;

/** The number of days after which a silent run without a lease is ended. */
export const abandonedAfterDays = 1;

/** Ends silent runs of one organization, at most `most` of them. Runs whose work is held continue. */
export const endAbandonedRuns = (db: Db, maxRuns: number): Promise<unknown[]> =>
  db.all(
    sql`with silent as materialized (
         select r.id from agent_runs r
         where ${orgFilter('r')} and r.ended_at is null and r.last_seen_at < now() - make_interval(days => ${sql.literal(abandonedAfterDays)})
           and not exists (
             select from executions e join leases l
               on ${orgFilter('l')} and l.unit_type = e.target_type and l.unit_id = e.target_id and l.state = 'held'
             where ${orgFilter('e')} and e.id = r.execution_id and ${isHeldSql}
               and e.run_id is not distinct from r.run_id)
         order by r.last_seen_at limit ${maxRuns} for update of r skip locked)
       update agent_runs r set state = 'failed', ended_at = clock_timestamp(),
         last_event = jsonb_build_object('kind', 'failed', 'message', 'silent for too long', 'data', null,
           'at', ${isoTimeSql(sql.part`clock_timestamp()`)})
       from silent s where ${orgFilter('r')} and r.id = s.id returning r.id`,
  );
