/** Totals of tokens and costs that runs report, and how much of them each day, story and budget gets. */
import { type Db, type IdOrSql, currentOrgId, orgFilter, type Part, sql } from '@muster/driver';
import { type RunUsage, type UsageReport } from '@muster/contract';
import { coversSql, isInPeriodSql } from './exceeded-budgets.ts';
import { noAgentId } from '@muster/tenancy';

/** A run, and the story that it works on. */
export interface UsageSource {
  readonly projectId: IdOrSql;
  readonly memberId: string;
  readonly agentId: string | null;
  readonly runId: string;
  readonly storyId: string | null;
}

/** Returns the run id under which the usage of a lease without a run is recorded. */
export const runIdOfLease = ({ id, epoch }: { readonly id: string; readonly epoch: number }): string =>
  `lease ${id} ${epoch}`;

/** A budget to which the report added costs. */
export interface ChargedBudget {
  readonly id: string;
  /** The share of the amount, 80 or 100 percent, that this report was the first to reach; null otherwise. */
  readonly reachedPercent: number | null;
  /** True if the budget is used up and stops work. */
  readonly stopsWork: boolean;
}

/**
 * Serializes reports with the setting of budgets, which sums up past costs. Reports do not wait for each other.
 */
const usageLockKey = sql.part`hashtextextended(concat_ws(' ', 'usage', ${currentOrgId}::uuid), 0)`;
const lockUsageForReport = sql`select pg_advisory_xact_lock_shared(${usageLockKey})`;
export const lockUsageForSums = sql`select pg_advisory_xact_lock(${usageLockKey})`;

/** Returns a sum of costs or tokens, at most the highest integer that JSON numbers represent exactly. */
export const exactSumSql = (sum: Part): Part =>
  sql.part`least(${sum}, ${sql.literal(Number.MAX_SAFE_INTEGER)})::bigint`;

/**
 * Returns the costs of a budget. The estimate of an earlier period can be corrected to a lower cost in this one,
 * which leaves no credit for other runs.
 */
export const spentSumSql = (sum: Part): Part => exactSumSql(sql.part`greatest(${sum}, 0)`);

const percentReachedSql = sql.part`case when n.spent >= b.amount_micros then 100
  when n.spent >= 0.8 * b.amount_micros then 80 else 0 end`;

/**
 * Raises the totals of a run to the reported ones, and adds only the difference to the day and to the budgets.
 * The work it does depends on the number of budgets that cover the run, and not on what was reported before.
 */
export async function recordUsage(
  db: Db,
  source: UsageSource,
  report: UsageReport,
): Promise<ChargedBudget[]> {
  const { projectId, memberId, runId } = source;
  const { model, currency, inputTokens = 0, outputTokens = 0, cachedTokens = 0, costMicros = null } = report;
  const agentId = source.agentId ?? noAgentId;
  const storyId = source.storyId ?? noAgentId;
  const cost = sql.part`coalesce(greatest(u.reported_cost_micros, excluded.reported_cost_micros),
    app.usage_cost(u.org_id, u.model, u.currency, (u.first_reported_at at time zone 'UTC')::date,
      greatest(u.input_tokens, excluded.input_tokens), greatest(u.output_tokens, excluded.output_tokens),
      greatest(u.cached_tokens, excluded.cached_tokens)))`;
  const [, charged] = await Promise.all([
    db.all(lockUsageForReport),
    db.all(sql<ChargedBudget>`with reported as (
        insert into run_usage as u (org_id, project_id, member_id, agent_id, run_id, model, currency, input_tokens,
          output_tokens, cached_tokens, reported_cost_micros, cost_micros)
        values (${currentOrgId}, ${projectId}, ${memberId}, ${agentId}, ${runId}, ${model}, ${currency}, ${inputTokens},
          ${outputTokens}, ${cachedTokens}, ${costMicros}::bigint, coalesce(${costMicros}::bigint,
            app.usage_cost(${currentOrgId}, ${model}, ${currency}, (clock_timestamp() at time zone 'UTC')::date,
              ${inputTokens}::bigint, ${outputTokens}::bigint, ${cachedTokens}::bigint)))
        on conflict (org_id, project_id, run_id, member_id, agent_id, model, currency) do update set
          input_tokens = greatest(u.input_tokens, excluded.input_tokens),
          output_tokens = greatest(u.output_tokens, excluded.output_tokens),
          cached_tokens = greatest(u.cached_tokens, excluded.cached_tokens),
          reported_cost_micros = greatest(u.reported_cost_micros, excluded.reported_cost_micros),
          cost_micros = ${cost}, last_reported_at = clock_timestamp()
        returning new.input_tokens - coalesce(old.input_tokens, 0) as input, new.output_tokens - coalesce(old.output_tokens, 0) as output,
          new.cached_tokens - coalesce(old.cached_tokens, 0) as cached, new.cost_micros - coalesce(old.cost_micros, 0) as cost),
      counted as (
        insert into usage_days as d (org_id, project_id, day, member_id, agent_id, run_id, story_id, model, currency,
          input_tokens, output_tokens, cached_tokens, cost_micros)
        select ${currentOrgId}, ${projectId}, (clock_timestamp() at time zone 'UTC')::date, ${memberId}, ${agentId}, ${runId},
          ${storyId}, ${model}, ${currency}, r.input, r.output, r.cached, r.cost
        from reported r where (r.input, r.output, r.cached, r.cost) is distinct from (0, 0, 0, 0)
        on conflict (org_id, project_id, day, member_id, agent_id, run_id, story_id, model, currency) do update set
          input_tokens = d.input_tokens + excluded.input_tokens, output_tokens = d.output_tokens + excluded.output_tokens,
          cached_tokens = d.cached_tokens + excluded.cached_tokens, cost_micros = d.cost_micros + excluded.cost_micros),
      covering as (
        select b.id from budgets b, reported r
        where ${orgFilter('b')} and b.currency = ${currency} and r.cost <> 0 and ${coversSql({
          project: sql.part`${projectId}`,
          agent: sql.part`${agentId}::uuid`,
          story: sql.part`${storyId}::uuid`,
        })}
        order by b.id for no key update of b)
      update budgets b set (period_start, spent_micros, exceeded_at, warned_percent) = (
        select n.start, n.spent,
          case when n.spent >= b.amount_micros then coalesce(case when n.same then b.exceeded_at end, clock_timestamp()) end,
          greatest(case when n.same then b.warned_percent else 0 end, ${percentReachedSql})
        from (select app.period_start(b.period, clock_timestamp()) as start, ${isInPeriodSql} as same,
          ${spentSumSql(sql.part`case when ${isInPeriodSql} then b.spent_micros else 0 end + r.cost`)} as spent) n)
      from covering c, reported r where ${orgFilter('b')} and b.id = c.id
      returning b.id, new.exceeded_at is not null and new.action = 'stop' as "stopsWork",
        case when new.warned_percent > case when old.period_start = new.period_start then old.warned_percent else 0 end
          then new.warned_percent end as "reachedPercent"`),
  ]);
  return charged;
}

/** Lists the totals of a run, per model and currency. */
export const listRunUsage = (
  db: Db,
  { projectId, runId, agentId, memberId }: Omit<UsageSource, 'storyId'>,
): Promise<RunUsage[]> =>
  db.all(
    sql<RunUsage>`select u.model, u.currency, u.input_tokens as "inputTokens", u.output_tokens as "outputTokens",
        u.cached_tokens as "cachedTokens", u.cost_micros as "costMicros"
      from run_usage u where ${orgFilter('u')} and u.project_id = ${projectId} and u.member_id = ${memberId}
        and u.agent_id = ${agentId ?? noAgentId} and u.run_id = ${runId}
      order by u.model, u.currency`,
  );
