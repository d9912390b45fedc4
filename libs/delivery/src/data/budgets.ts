/** Budgets as stored rows and as API records. */
import {
  CursorId,
  type Db,
  decodeCursor,
  newId,
  orgFilter,
  currentOrgId,
  pageOfRows,
  type Part,
  sql,
} from '@muster/driver';
import {
  type Actor,
  type Budget,
  leadRank,
  type ParamsOf,
  type ResultOf,
  type Subject,
} from '@muster/contract';
import { type DeliveryRegistry } from '@muster/delivery-registry';
import { type Caller, projectsVisibleTo } from '@muster/runtime';
import { z } from 'zod';
import { isInPeriodSql } from './exceeded-budgets.ts';
import { lockUsageForSums, spentSumSql } from './usage.ts';

const spentSql = sql.part`case when ${isInPeriodSql} then b.spent_micros else 0 end`;
const budgetColumns = sql.part`b.id, b.scope,
  case when b.scope <> 'org' then jsonb_build_object('id', coalesce(b.story_id, b.agent_id, b.project_id),
    'name', coalesce(p.key || '-' || s.number || ' ' || s.title, a.name, p.name)) end as target,
  b.project_id as "projectId", b.amount_micros as "amountMicros", b.currency, b.period, b.action,
  ${spentSql} as "spentMicros", case when ${spentSql} >= b.amount_micros then 'exceeded'
    when ${spentSql} >= 0.8 * b.amount_micros then 'warning' else 'ok' end as state,
  b.set_by as "setBy", b.created_at as "createdAt", b.updated_at as "updatedAt", b.version`;
const budgetTables = sql.part`budgets b left join projects p on ${orgFilter('p')} and p.id = b.project_id
  left join agents a on ${orgFilter('a')} and a.id = b.agent_id
  left join stories s on ${orgFilter('s')} and s.id = b.story_id`;

/** Returns the budget as an event subject. */
export const budgetSubject = ({ id, target, projectId }: Budget): Subject => ({
  ...{ type: 'budget', id, key: null },
  ...{ title: target === null ? 'the organization' : target.name, projectId },
});

export const getBudgets = (db: Db, ids: readonly string[]): Promise<Budget[]> =>
  db.all(
    sql<Budget>`select ${budgetColumns} from ${budgetTables}
      where ${orgFilter('b')} and b.id = any (${ids}::uuid[]) order by b.id`,
  );

/** Locks a budget, with the caller's rank in its project; 0 without a project or rank. */
export const lockBudget = (
  db: Db,
  caller: Caller,
  budgetId: string,
): Promise<Budget & { readonly rank: number }> =>
  db.get(
    sql<Budget & { readonly rank: number }>`select ${budgetColumns}, coalesce((select v.project_rank
        from ${projectsVisibleTo(caller)} v where v.project_id = b.project_id), 0) as rank
      from ${budgetTables} where ${orgFilter('b')} and b.id = ${budgetId} for update of b`,
  );

export const deleteBudget = (budgetId: string) =>
  sql`delete from budgets where ${orgFilter()} and id = ${budgetId}`;

/** The ids of the record that a budget is for. */
export interface BudgetTarget {
  readonly projectId: string | null;
  readonly agentId: string | null;
  readonly storyId: string | null;
}

/** Returns the condition for usage `d` that counts for a budget of this target. */
function usageOfTargetSql({ projectId, agentId, storyId }: BudgetTarget): Part {
  if (storyId !== null) return sql.part`d.story_id = ${storyId}`;
  if (agentId !== null) return sql.part`d.agent_id = ${agentId}`;
  return projectId === null ? sql.part`true` : sql.part`d.project_id = ${projectId}`;
}

/** The maximum number of budgets in an organization. */
export const maxBudgets = 1_000;

/**
 * Sets the budget of a target and period, with the costs of the current period. Returns undefined if the
 * organization has too many budgets.
 */
export async function setBudget(
  db: Db,
  actor: Actor,
  target: BudgetTarget,
  { scope, period, action, amountMicros, currency }: ParamsOf<DeliveryRegistry['budgets']['set']>,
): Promise<Budget | undefined> {
  const [, row] = await Promise.all([
    db.all(lockUsageForSums),
    db.find(
      sql<{
        id: string;
      }>`insert into budgets as b (org_id, id, scope, project_id, agent_id, story_id, period, action,
          amount_micros, currency, spent_micros, period_start, exceeded_at, set_by)
        select ${currentOrgId}, ${newId()}::uuid, ${scope}, ${target.projectId}::uuid, ${target.agentId}::uuid,
          ${target.storyId}::uuid, ${period}, ${action}, ${amountMicros}::bigint, ${currency}, u.spent, n.start,
          case when u.spent >= ${amountMicros} then clock_timestamp() end, ${actor}::jsonb
        from (select app.period_start(${period}, clock_timestamp()) as start) n
        cross join lateral (select ${spentSumSql(sql.part`coalesce(sum(d.cost_micros), 0)`)} as spent from usage_days d
          where ${orgFilter('d')} and d.day >= n.start and d.currency = ${currency} and ${usageOfTargetSql(target)}) u
        where (select count(*) from budgets c where ${orgFilter('c')}) < ${sql.literal(maxBudgets)}
          or exists (select from budgets c where ${orgFilter('c')} and c.scope = ${scope} and c.period = ${period}
            and (c.project_id, c.agent_id, c.story_id) is not distinct from
              (${target.projectId}::uuid, ${target.agentId}::uuid, ${target.storyId}::uuid))
        on conflict (org_id, scope, project_id, agent_id, story_id, period) do update set
          action = excluded.action, amount_micros = excluded.amount_micros, currency = excluded.currency,
          spent_micros = excluded.spent_micros, period_start = excluded.period_start,
          exceeded_at = case when excluded.exceeded_at is not null then coalesce(b.exceeded_at, excluded.exceeded_at) end,
          warned_percent = case when (b.period_start, b.amount_micros, b.currency, b.action)
            = (excluded.period_start, excluded.amount_micros, excluded.currency, excluded.action)
            then b.warned_percent else 0 end, set_by = excluded.set_by, updated_at = now(), version = b.version + 1
        returning b.id`,
    ),
  ]);
  return row === undefined ? undefined : (await getBudgets(db, [row.id]))[0];
}

const Cursor = z.tuple([CursorId]);

/** Lists the budgets that the caller may manage, newest first. */
export async function listBudgets(
  db: Db,
  caller: Caller,
  isAdmin: boolean,
  { scope, limit, cursor }: ParamsOf<DeliveryRegistry['budgets']['list']>,
  projectId: Part | null,
): Promise<ResultOf<DeliveryRegistry['budgets']['list']>> {
  const where = [orgFilter('b')];
  if (!isAdmin)
    where.push(sql.part`b.project_id in (select v.project_id from ${projectsVisibleTo(caller)} v
      where v.project_rank >= ${sql.literal(leadRank)})`);
  if (scope !== undefined) where.push(sql.part`b.scope = ${scope}`);
  if (projectId !== null) where.push(sql.part`b.project_id = ${projectId}`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`b.id < ${after[0]}::uuid`);
  const rows = await db.all(
    sql<Budget>`select ${budgetColumns} from ${budgetTables} where ${sql.join(where, ' and ')}
      order by b.id desc limit ${limit + 1}`,
  );
  return pageOfRows(
    rows,
    limit,
    ({ id }) => [id],
    (budget) => budget,
  );
}
