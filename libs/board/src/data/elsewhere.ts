/**
 * Errors about records that a call names in addition to its target, and that are not in the target's project.
 */
import { type Db, of, sql } from '@muster/driver';
import { type ApiError, type Caller, nothingAt, visibleTo } from '@muster/runtime';
import { storyIdOf } from '@muster/tenancy';

type Kind = 'board_columns' | 'epics' | 'stories';

/**
 * Returns mismatched_project if the caller can see the record in another project. Otherwise it returns the
 * same not_found for records that are hidden, of another organization, or do not exist. `path` is the
 * parameter that names the record.
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
