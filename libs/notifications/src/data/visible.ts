/** What of the organization a caller may see. */
import { type Db, of, type Part, sql } from '@muster/driver';
import { type Caller, named, visibleTo } from '@muster/runtime';
import { projectIdOf } from '@muster/tenancy';

/**
 * SQL for the condition that the caller may see what belongs to this project; to no project belongs what everybody
 * may see. Owners and admins, unless their token is bound to projects, see what is left of deleted ones as well.
 */
export const isVisible = (caller: Caller, projectId: Part): Part => sql.part`(
  (select m.role in ('owner', 'admin') and t.project_ids is null
    from members m join tokens t on t.org_id = m.org_id and t.id = ${caller.tokenId}::uuid
    where ${of('m')} and m.id = ${caller.memberId}::uuid)
  or ${projectId} is null
  or ${projectId} in (select v.project_id from ${visibleTo(caller)} v))`;

/**
 * SQL for the condition that the caller may see this project, which there is. It looks at the one project, where
 * isVisible looks at all of them once: for pages whose entries are of few.
 */
export const maySee = (caller: Caller, projectId: Part): Part =>
  sql.part`exists (select from ${visibleTo(caller)} v where v.project_id = ${projectId})`;

export interface VisibleProject {
  readonly id: string;
  readonly rank: number;
  readonly archived: boolean;
}

/** The project with the caller's rank in it; 404 where the caller may not see it. */
export const getProject = (db: Db, caller: Caller, ref: string): Promise<VisibleProject> =>
  named(
    'projectId',
    db.get(
      sql<VisibleProject>`select p.id, v.project_rank as rank, p.archived_at is not null as archived from projects p
         join ${visibleTo(caller)} v on v.project_id = p.id
         where ${of('p')} and p.id = ${projectIdOf(ref)}`,
    ),
  );
