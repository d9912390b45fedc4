/** Finds the record that a budget is for, by the reference of the caller. */
import { type Db, orgFilter, sql } from '@muster/driver';
import { isUuid, type ParamsOf, parseBudgetTarget } from '@muster/contract';
import { type DeliveryRegistry } from '@muster/delivery-registry';
import { type Caller, pathNotFound, projectsVisibleTo } from '@muster/runtime';
import { projectIdSql, storyIdSql } from '@muster/tenancy';
import { type BudgetTarget } from './budgets.ts';

interface FoundTarget extends BudgetTarget {
  /** The caller's rank in the project; 0 for the organization and agents. */
  readonly rank: number;
  readonly isArchived: boolean;
}

/** Finds the record that the budget is for. Throws 404 if the caller may not see it. */
export async function findBudgetTarget(
  db: Db,
  caller: Caller,
  { scope, targetId }: ParamsOf<DeliveryRegistry['budgets']['set']>,
): Promise<FoundTarget> {
  const whole = { projectId: null, agentId: null, storyId: null, rank: 0, isArchived: false };
  if (scope === 'org') return whole;
  const ref = parseBudgetTarget(scope, targetId);
  if (ref === undefined) throw pathNotFound('targetId');
  if (scope === 'agent') {
    const isNamed = isUuid(ref) ? sql.part`a.id = ${ref}::uuid` : sql.part`a.slug = ${ref}`;
    const agent = await db.find(
      sql<{ id: string }>`select a.id from agents a where ${orgFilter('a')} and ${isNamed}
        order by a.member_id <> ${caller.memberId}, a.id limit 1`,
    );
    if (agent === undefined) throw pathNotFound('targetId');
    return { ...whole, agentId: agent.id };
  }
  const storyId = scope === 'story' ? storyIdSql(ref) : sql.part`null::uuid`;
  const isNamed = scope === 'story' ? sql.part`s.id is not null` : sql.part`p.id = ${projectIdSql(ref)}`;
  const found = await db.find(
    sql<FoundTarget>`select p.id as "projectId", null::uuid as "agentId", s.id as "storyId",
        v.project_rank as rank, p.archived_at is not null as "isArchived"
      from ${projectsVisibleTo(caller)} v join projects p on ${orgFilter('p')} and p.id = v.project_id
      left join stories s on ${orgFilter('s')} and s.project_id = p.id and s.id = ${storyId}
      where ${isNamed}`,
  );
  if (found === undefined) throw pathNotFound('targetId');
  return found;
}
