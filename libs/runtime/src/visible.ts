/** What of the organization a caller may see, beside the project that the door has looked at. */
import { type Db, sqlQuery, Values } from '@muster/database';
import { notFound } from '@muster/registry';
import { type Caller } from './handle.ts';

/** SQL for the projects that the caller may see, as `project_id` with the caller's `project_rank`. */
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
