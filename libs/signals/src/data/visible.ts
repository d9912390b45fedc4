/** What of the organization a caller may see. */
import { type Db, sqlQuery, Values } from '@muster/database';
import { type Caller, notFound, visibleProjects } from '@muster/runtime';

/**
 * SQL for the condition that the caller may see what belongs to this project; to no project belongs what everybody
 * may see. Owners and admins, unless their token is bound to projects, see what is left of deleted ones as well.
 */
export const isVisible = (values: Values, caller: Caller, projectId: string): string => `(
  (select m.role in ('owner', 'admin') and t.project_ids is null
    from members m join tokens t on t.org_id = m.org_id and t.id = ${values.uuid(caller.tokenId)}
    where m.org_id = ${values.org} and m.id = ${values.uuid(caller.memberId)})
  or ${projectId} is null
  or ${projectId} in (select v.project_id from ${visibleProjects(values, caller)} v))`;

/**
 * SQL for the condition that the caller may see this project, which there is. It looks at the one project, where
 * isVisible looks at all of them once: for pages whose entries are of few.
 */
export const maySee = (values: Values, caller: Caller, projectId: string): string =>
  `exists (select from ${visibleProjects(values, caller)} v where v.project_id = ${projectId})`;

/** 404 unless there is the story, in a project that the caller may see. */
export async function requireStory(db: Db, caller: Caller, ref: string): Promise<void> {
  const values = new Values(caller.orgId);
  const id = values.storyId(ref);
  const found = await db.find(
    sqlQuery(
      `select s.id from stories s join ${visibleProjects(values, caller)} v on v.project_id = s.project_id
       where s.org_id = ${values.org} and s.id = ${id}`,
      values.list,
    ),
  );
  if (found === undefined) throw notFound();
}
