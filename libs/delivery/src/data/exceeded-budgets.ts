/**
 * Budgets that are used up and stop work. Their stop is derived on reading, so it ends as soon as the budget is
 * raised or a new period begins, without another write.
 */
import { type Db, type IdOrSql, orgFilter, type Part, sql } from '@muster/driver';
import { type Actor, type Budget } from '@muster/contract';
import { isoTimeSql } from '@muster/tenancy';
import { type ExecutionRow } from './executions.ts';

/** A budget that is used up, in the form in which refusals and signals name it. */
export interface ExceededBudget {
  readonly budget: Pick<Budget, 'id' | 'scope' | 'amountMicros' | 'currency' | 'period'>;
  /** The story that the budget is for; null if it covers all work that the query was about. */
  readonly storyId: string | null;
  readonly exceededAt: string;
}

/** True if the counted amount of budget `b` belongs to the current period. */
export const isInPeriodSql = sql.part`b.period_start = app.period_start(b.period, clock_timestamp())`;

const exceededColumns = sql.part`jsonb_build_object('id', b.id, 'scope', b.scope, 'amountMicros', b.amount_micros,
    'currency', b.currency, 'period', b.period) as budget, b.story_id as "storyId", ${isoTimeSql(sql.part`b.exceeded_at`)} as "exceededAt"`;
const stopsWorkSql = sql.part`${orgFilter('b')} and b.exceeded_at is not null and b.action = 'stop' and ${isInPeriodSql}`;

/** Returns the condition that budget `b` covers work in the project, of the agent, on the story. */
export const coversSql = (work: {
  readonly project: Part;
  readonly agent: Part;
  readonly story: Part;
}): Part => sql.part`(b.scope = 'org' or b.scope = 'project' and b.project_id = ${work.project}
  or b.scope = 'agent' and b.agent_id = ${work.agent} or b.scope = 'story' and b.story_id = ${work.story})`;

/** Lists the budgets that stop an agent's work in a project, including those of single stories. */
export const listExceededBudgets = (db: Db, project: Part, agentId: string): Promise<ExceededBudget[]> =>
  db.all(
    sql<ExceededBudget>`select ${exceededColumns} from budgets b
      where ${stopsWorkSql} and (b.story_id is null or b.project_id = ${project})
        and ${coversSql({ project, agent: sql.part`${agentId}::uuid`, story: sql.part`b.story_id` })}
      order by b.id`,
  );

/** Returns the budget that stops work on this story or group. */
export const exceededBudgetFor = (
  exceeded: readonly ExceededBudget[],
  targetId: string,
): ExceededBudget | undefined => exceeded.find(({ storyId }) => storyId === null || storyId === targetId);

/** Finds a used-up budget that covers the work of the execution. It reads only budgets that are used up. */
export const findBudgetStop = (db: Db, executionId: IdOrSql): Promise<ExceededBudget | undefined> =>
  db.find(
    sql<ExceededBudget>`select ${exceededColumns} from budgets b
      join executions e on ${orgFilter('e')} and e.id = ${executionId}
      where ${stopsWorkSql} and ${coversSql({
        project: sql.part`e.project_id`,
        story: sql.part`e.target_id`,
        agent: sql.part`(select l.agent_id from leases l where ${orgFilter('l')} and l.unit_type = e.target_type
          and l.unit_id = e.target_id and l.state = 'held')`,
      })}
      order by b.id limit 1`,
  );

const budgetActor: Actor = { kind: 'system', memberId: null, agentId: null, name: 'Budget' };

/** Returns the execution with the stop of the budget, unless it is completed or a member's stop is in force. */
export const withBudgetStop = (execution: ExecutionRow, stop: ExceededBudget | undefined): ExecutionRow =>
  stop === undefined || execution.state === 'completed' || execution.stop_requested !== null
    ? execution
    : {
        ...execution,
        stop_requested: {
          ...{ seq: execution.last_event_seq, by: budgetActor },
          ...{ reason: 'budget', at: stop.exceededAt },
        },
      };
