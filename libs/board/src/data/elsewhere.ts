/** Records that a call names beside its target, and that are not in the target's project. */
import { type Db, of, sql } from '@muster/driver';
import { type ApiError, type Caller, nothingAt, visibleTo } from '@muster/runtime';
import { storyIdOf } from '@muster/tenancy';

type Kind = 'board_columns' | 'epics' | 'stories';

/**
 * The answer to a record that the target's project has not: mismatched_project where the caller can see it in
 * another project, else the same not_found for what is hidden, of another organization, or nowhere. `path` is the parameter
 * that names it.
 */
export async function notInProject(
  { db, caller, refuse }: { db: Db; caller: Caller; refuse: (reason: 'mismatched_project') => ApiError },
  projectId: string,
  kind: Kind,
  { ref, path }: { readonly ref: string; readonly path: string },
): Promise<ApiError> {
  const visible = visibleTo(caller);
  const id = kind === 'stories' ? storyIdOf(ref) : sql.part`${ref}::uuid`;
  const found = await db.find(
    sql`select r.id from ${sql.word(kind)} r join ${visible} v on v.project_id = r.project_id
       where ${of('r')} and r.id = ${id} and r.project_id <> ${projectId}::uuid`,
  );
  return found === undefined ? nothingAt(path) : refuse('mismatched_project');
}
