/**
 * The parents of stories. A story's parent is another story of its project, without a parent of its own. Calls
 * that set a parent lock the project's counters first, so that two of them cannot nest stories more deeply.
 */
import { type Db, type IdOrSql, orgFilter, sql } from '@muster/driver';
import { type ApiError, type Caller } from '@muster/runtime';
import { storyIdSql } from '@muster/tenancy';
import { notInProjectError } from './elsewhere.ts';

/** A story that a call names as the parent of another one. */
interface NamedParent {
  readonly id: string;
  readonly project_id: string;
  readonly parent_id: string | null;
}

/** Finds the named story, in any project. */
export const findNamedParent = (db: Db, ref: string): Promise<NamedParent | undefined> =>
  db.find(
    sql<NamedParent>`select s.id, s.project_id, s.parent_id from stories s
       where ${orgFilter('s')} and s.id = ${storyIdSql(ref)}`,
  );

/** The maximum number of children whose keys an error lists. */
const maxListedChildren = 20;

/** Lists the keys of the first children of a story. */
export const listChildKeys = async (db: Db, storyId: IdOrSql): Promise<string[]> => {
  const rows = await db.all(
    sql<{ key: string }>`select p.key || '-' || s.number as key
       from stories s join projects p on ${orgFilter('p')} and p.id = s.project_id
       where ${orgFilter('s')} and s.parent_id = ${storyId} order by s.number limit ${sql.literal(maxListedChildren)}`,
  );
  return rows.map(({ key }) => key);
};

/** Returns the named parent. Throws if it is not a story of this project. */
export async function requireParentInProject(
  context: { db: Db; caller: Caller; refuse: (reason: 'mismatched_project') => ApiError },
  projectId: string,
  ref: string,
  parent: NamedParent | undefined,
): Promise<NamedParent> {
  if (parent?.project_id === projectId) return parent;
  throw await notInProjectError(context, projectId, 'stories', { ref, path: 'parentId' });
}

/**
 * Throws if the story would be its own parent, or if the parent has a parent. `storyId` is null for a new
 * story.
 */
export function requireTopLevelParent(
  refuse: (reason: 'nested_parent', details: Record<string, unknown>) => ApiError,
  parent: NamedParent,
  storyId: string | null,
): void {
  if (parent.id === storyId || parent.parent_id !== null)
    throw refuse('nested_parent', { parentId: parent.id, parentOfParent: parent.parent_id });
}
