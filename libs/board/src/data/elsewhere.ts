/** Records that a call names beside its target, and that are not in the target's project. */
import { type Db, sqlQuery, Values } from '@muster/database';
import { type ApiError, type Caller, notFound, visibleProjects } from '@muster/runtime';
import { parseStoryRef } from './stories.ts';

type Kind = 'board_columns' | 'epics' | 'stories';

/**
 * The answer to a record that the target's project has not: mismatched_project where the caller can see it in
 * another project, else the same not_found for what is hidden, of another organization, or nowhere.
 */
export async function notInProject(
  { db, caller, refuse }: { db: Db; caller: Caller; refuse: (reason: 'mismatched_project') => ApiError },
  projectId: string,
  kind: Kind,
  ref: string,
): Promise<ApiError> {
  const values = new Values(caller.orgId);
  const visible = visibleProjects(values, caller);
  const here = values.uuid(projectId);
  const parsed = kind === 'stories' ? parseStoryRef(ref) : { id: ref };
  const found =
    'id' in parsed
      ? await db.find(
          sqlQuery(
            `select r.id from ${kind} r join ${visible} v on v.project_id = r.project_id
             where r.org_id = ${values.org} and r.id = ${values.uuid(parsed.id)} and r.project_id <> ${here}`,
            values.list,
          ),
        )
      : await db.find(
          sqlQuery(
            `select s.id from projects p join ${visible} v on v.project_id = p.id
             join stories s on s.org_id = p.org_id and s.project_id = p.id and s.number = ${values.$(parsed.number)}
             where p.org_id = ${values.org} and p.key = ${values.$(parsed.projectKey)} and p.id <> ${here}`,
            values.list,
          ),
        );
  return found === undefined ? notFound() : refuse('mismatched_project');
}
