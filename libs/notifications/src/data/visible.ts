/** Conditions on the projects that a caller may see. */
import { orgFilter, type Part, sql } from '@muster/driver';
import { leadRank, scopeCovers } from '@muster/contract';
import { type Caller, projectsVisibleTo } from '@muster/runtime';

/**
 * Returns the SQL condition that the caller may see data of this project. Data without a project is visible
 * to all members. Owners and admins also see the remaining data of deleted projects, unless their token is
 * bound to projects.
 */
export const isVisibleSql = (caller: Caller, projectId: Part): Part => sql.part`(
  (select m.role in ('owner', 'admin') and t.project_ids is null
    from members m join tokens t on t.org_id = m.org_id and t.id = ${caller.tokenId}::uuid
    where ${orgFilter('m')} and m.id = ${caller.memberId}::uuid)
  or ${projectId} is null
  or ${projectId} in (select v.project_id from ${projectsVisibleTo(caller)} v))`;

/**
 * Returns the SQL condition that the caller may see the project, which must exist. It checks only this
 * project, while isVisible reads all visible projects once. Use it for pages with entries of few projects.
 */
export const maySeeProjectSql = (caller: Caller, projectId: Part): Part =>
  sql.part`exists (select from ${projectsVisibleTo(caller)} v where v.project_id = ${projectId})`;

/** Returns the SQL condition that the member is active, and the owner or an admin. */
export const isAdminSql = (memberId: Part): Part => sql.part`exists (select from members m
  where ${orgFilter('m')} and m.id = ${memberId} and m.status = 'active' and m.role in ('owner', 'admin'))`;

/** The condition that event `e` is not about a budget. */
export const isNotBudgetEventSql = sql.part`not starts_with(e.kind, 'budget.')`;

/**
 * Returns the SQL condition that the caller may see event `e`, whose project is visible. Events of budgets are only
 * for callers of budgets.list, and only for the budgets that it lists.
 */
export function mayReadBudgetEventSql(caller: Caller): Part {
  if (caller.agentId !== null || caller.projectIds !== null) return isNotBudgetEventSql;
  const isAdmin = scopeCovers(caller.scopes, 'admin')
    ? isAdminSql(sql.part`${caller.memberId}::uuid`)
    : sql.part`false`;
  return sql.part`(${isNotBudgetEventSql} or ${isAdmin} or e.project_id in (select v.project_id
    from ${projectsVisibleTo(caller)} v where v.project_rank >= ${sql.literal(leadRank)}))`;
}
