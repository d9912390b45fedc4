/**
 * Errors about records that a call names in addition to its target, and that are not in the target's project.
 */
import { type Db, orgFilter, sql } from '@muster/driver';
import { type ApiError, type Caller, pathNotFound, projectsVisibleTo } from '@muster/runtime';
import { storyIdSql } from '@muster/tenancy';

type ReferencedTable = 'board_columns' | 'epics' | 'stories';

/**
 * Returns mismatched_project if the caller can see the record in another project. Otherwise it returns the
 * same not_found for records that are hidden, of another organization, or do not exist. `path` is the
 * parameter that names the record.
 */
export async function notInProjectError(
  { db, caller, refuse }: { db: Db; caller: Caller; refuse: (reason: 'mismatched_project') => ApiError },
  projectId: string,
  table: ReferencedTable,
  { ref, path }: { readonly ref: string; readonly path: string },
): Promise<ApiError> {
  const visible = projectsVisibleTo(caller);
  const id = table === 'stories' ? storyIdSql(ref) : sql.part`${ref}::uuid`;
  const found = await db.find(
    sql`select r.id from ${sql.word(table)} r join ${visible} v on v.project_id = r.project_id
       where ${orgFilter('r')} and r.id = ${id} and r.project_id <> ${projectId}::uuid`,
  );
  return found === undefined ? pathNotFound(path) : refuse('mismatched_project');
}
