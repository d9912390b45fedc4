/**
 * The dependencies between stories. A story's blockers are stories of its own project, and no cycle exists.
 * A parent waits for its children, too.
 */
import { type Db, orgFilter, currentOrgId, type Query, sql } from '@muster/driver';
import { type ApiError, type Caller } from '@muster/runtime';
import { storyIdsSql } from '@muster/tenancy';
import { notInProjectError } from './elsewhere.ts';

interface ReferencedStory {
  /** The position in the list of references, counted from 1. */
  readonly ord: number;
  readonly id: string;
  readonly project_id: string;
}

/** Finds the stories of these references, in any project. References to missing stories are left out. */
export async function findStories(db: Db, refs: readonly string[]): Promise<ReferencedStory[]> {
  if (refs.length === 0) return [];
  return db.all(
    sql<ReferencedStory>`select n.ord, s.id, s.project_id
       from ${storyIdsSql(refs)} n join stories s on ${orgFilter('s')} and s.id = n.id`,
  );
}

/**
 * Returns the IDs of the named blockers, oldest first and without duplicates. Throws if one is not in the
 * project.
 */
export async function resolveBlockerIds(
  context: { db: Db; caller: Caller; refuse: (reason: 'mismatched_project') => ApiError },
  projectId: string,
  refs: readonly string[],
  foundStories: readonly ReferencedStory[],
): Promise<string[]> {
  const here = foundStories.filter((story) => story.project_id === projectId);
  const places = new Set(here.map(({ ord }) => ord));
  const missing = refs.findIndex((_, index) => !places.has(index + 1));
  if (missing !== -1) {
    const named = { ref: refs[missing] ?? '', path: `blockedBy.${missing}` };
    throw await notInProjectError(context, projectId, 'stories', named);
  }
  return [...new Set(here.map(({ id }) => id))].sort();
}

/**
 * Reports whether a story with these blockers and this parent would wait for itself. `storyId` is null for a
 * new story. The result is exact while the project's counters are locked.
 */
export async function wouldCreateCycle(
  db: Db,
  storyId: string | null,
  parentId: string | null,
  blockerIds: readonly string[],
): Promise<boolean> {
  if (blockerIds.length === 0) return false;
  // The recursion visits each story once, so it terminates. The limit stops it at the first path back. It does
  // not lead from a parent to the story, because the story may be leaving that parent.
  const back = await db.find(
    sql`with recursive waits (id) as (
         select unnest(${blockerIds}::uuid[])
         union
         select b.id from waits w cross join lateral (
           select n.blocker_id as id from story_blockers n where ${orgFilter('n')} and n.story_id = w.id
           union all
           select c.id from stories c where ${orgFilter('c')} and c.parent_id = w.id
             and c.id is distinct from ${storyId}::uuid) b)
       select w.id from waits w where w.id in (${storyId}::uuid, ${parentId}::uuid) limit 1`,
  );
  return back !== undefined;
}

export const insertBlockers = (
  projectId: string,
  storyId: string,
  blockerIds: readonly string[],
): Query<unknown> =>
  sql`insert into story_blockers (org_id, project_id, story_id, blocker_id) select ${currentOrgId}, ${projectId}, ${storyId}, unnest(${blockerIds}::uuid[])`;

export const deleteBlockers = (storyId: string, blockerIds: readonly string[]): Query<unknown> =>
  sql`delete from story_blockers where ${orgFilter()} and story_id = ${storyId} and blocker_id = any (${blockerIds}::uuid[])`;
