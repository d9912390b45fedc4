/** Records that a call names beside its target, and that are not in the target's project. */
import { type Db, sqlQuery } from '@muster/database';
import { type ApiError, type Caller, notFound } from '@muster/runtime';
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
  const visible = 'app.visible_projects($1, $2, $3)';
  const parameters = [caller.orgId, caller.memberId, caller.tokenId, projectId];
  const parsed = kind === 'stories' ? parseStoryRef(ref) : { id: ref };
  const found =
    'id' in parsed
      ? await db.find(
          sqlQuery(
            `select r.id from ${kind} r join ${visible} v on v.project_id = r.project_id
             where r.org_id = $1 and r.id = $5 and r.project_id <> $4`,
            [...parameters, parsed.id],
          ),
        )
      : await db.find(
          sqlQuery(
            `select s.id from projects p join ${visible} v on v.project_id = p.id
             join stories s on s.org_id = p.org_id and s.project_id = p.id and s.number = $6
             where p.org_id = $1 and p.key = $5 and p.id <> $4`,
            [...parameters, parsed.projectKey, parsed.number],
          ),
        );
  return found === undefined ? notFound() : refuse('mismatched_project');
}
