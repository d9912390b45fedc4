/** Conditions on the projects that a caller may see. */
import { type Db, orgFilter, type Part, sql } from '@muster/driver';
import { type Caller, withPathOnNotFound, projectsVisibleTo } from '@muster/runtime';
import { projectIdSql } from '@muster/tenancy';

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

export interface VisibleProject {
  readonly id: string;
  readonly rank: number;
  readonly archived: boolean;
}

/** Reads the project with the rank of the caller's role in it. Throws 404 if the caller may not see it. */
export const getVisibleProject = (db: Db, caller: Caller, projectRef: string): Promise<VisibleProject> =>
  withPathOnNotFound(
    'projectId',
    db.get(
      sql<VisibleProject>`select p.id, v.project_rank as rank, p.archived_at is not null as archived from projects p
         join ${projectsVisibleTo(caller)} v on v.project_id = p.id
         where ${orgFilter('p')} and p.id = ${projectIdSql(projectRef)}`,
    ),
  );
