/** What happens to runs when the work that they hold changes hands, or ends: each in one statement, behind its lease's. */
import { type Query, sqlQuery } from '@muster/database';
import { type FinalRunState } from '@muster/registry';

const ended = (
  state: string,
): string => `state = ${state}, ended_at = clock_timestamp(), last_seen_at = clock_timestamp(),
  last_event = jsonb_build_object('kind', ${state}::text, 'message', null, 'data', jsonb_build_object('executionId', e.id),
    'at', to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;

/** From now on the run of whoever acquired goes with the execution. */
export const tieRun = (
  orgId: string,
  executionId: unknown,
  { memberId, agentId }: { readonly memberId: string; readonly agentId: string | null },
): Query<unknown> =>
  sqlQuery(
    `update agent_runs r set execution_id = e.id,
       story_id = case when e.target_type = 'story' then e.target_id else r.story_id end
     from executions e
     where e.org_id = $1 and e.id = $2 and r.org_id = $1 and r.project_id = e.project_id and r.run_id = e.run_id
       and r.member_id = $3 and r.agent_id is not distinct from $4 and r.ended_at is null`,
    [orgId, executionId, memberId, agentId],
  );

/** Ends the run from which the execution was taken. The one that took it has the execution by now. */
export const endTakenRun = (
  orgId: string,
  executionId: unknown,
  from: { readonly memberId: unknown; readonly agentId: unknown },
): Query<unknown> =>
  sqlQuery(
    `update agent_runs r set ${ended(`'canceled'`)}
     from executions e
     where e.org_id = $1 and e.id = $2 and r.org_id = $1 and r.execution_id = e.id and r.ended_at is null
       and r.member_id = $3 and r.agent_id is not distinct from $4 and r.run_id is distinct from e.run_id`,
    [orgId, executionId, from.memberId, from.agentId],
  );

/** Ends the run that held an execution last, as the execution ended. Where its holder named none, those that named it. */
export const endRunOf = (orgId: string, executionId: unknown, state: FinalRunState): Query<unknown> =>
  sqlQuery(
    `update agent_runs r set ${ended('$3')}
     from executions e
     where e.org_id = $1 and e.id = $2 and r.org_id = $1 and r.execution_id = e.id and r.ended_at is null
       and (e.run_id is null or r.run_id = e.run_id)`,
    [orgId, executionId, state],
  );

/** The same where the stories that are worked on are canceled or deleted. It goes before what ends the executions. */
export const endRunsOnStories = (orgId: string, storyIds: readonly string[]): Query<unknown> =>
  sqlQuery(
    `update agent_runs r set ${ended(`'canceled'`)}
     from executions e
     where e.org_id = $1 and e.target_type = 'story' and e.target_id = any ($2::uuid[]) and e.state <> 'completed'
       and r.org_id = $1 and r.execution_id = e.id and r.ended_at is null
       and (e.run_id is null or r.run_id = e.run_id)`,
    [orgId, storyIds],
  );
