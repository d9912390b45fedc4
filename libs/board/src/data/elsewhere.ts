/** Records that a call names beside its target, and that are not in the target's project. */
import { type Db, of, sql } from '@muster/database';
import { type ApiError, type Caller, notFound, visibleTo } from '@muster/runtime';
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
  const visible = visibleTo(caller);
  const here = sql.part`${projectId}::uuid`;
  const parsed = kind === 'stories' ? parseStoryRef(ref) : { id: ref };
  const found =
    'id' in parsed
      ? await db.find(
          sql`select r.id from ${sql.word(kind)} r join ${visible} v on v.project_id = r.project_id
             where ${of('r')} and r.id = ${parsed.id}::uuid and r.project_id <> ${here}`,
        )
      : await db.find(
          sql`select s.id from projects p join ${visible} v on v.project_id = p.id
             join stories s on s.org_id = p.org_id and s.project_id = p.id and s.number = ${parsed.number}
             where ${of('p')} and p.key = ${parsed.projectKey} and p.id <> ${here}`,
        );
  return found === undefined ? notFound() : refuse('mismatched_project');
}
