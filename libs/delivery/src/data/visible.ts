/** What of the organization a caller may see. */
import { type Db, sqlQuery, Values } from '@muster/database';
import { type Caller, notFound } from '@muster/runtime';

/** SQL for the projects that the caller may see, as `project_id`. */
export const visibleProjects = (values: Values, { memberId, tokenId }: Caller): string =>
  `app.visible_projects(${values.org}, ${values.uuid(memberId)}, ${values.uuid(tokenId)})`;

/** 404 unless the caller may see the project. */
export async function requireProject(db: Db, caller: Caller, ref: string): Promise<void> {
  const values = new Values(caller.orgId);
  const id = values.projectId(ref);
  const found = await db.find(
    sqlQuery(
      `select v.project_id from ${visibleProjects(values, caller)} v where v.project_id = ${id}`,
      values.list,
    ),
  );
  if (found === undefined) throw notFound();
}
