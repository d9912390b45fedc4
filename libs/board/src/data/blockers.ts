/**
 * The dependencies between stories. A story's blockers are stories of its own project, and no cycle exists.
 */
import { type Db, of, organization, type Query, sql } from '@muster/driver';
import { type ApiError, type Caller } from '@muster/runtime';
import { storiesOf } from '@muster/tenancy';
import { notInProject } from './elsewhere.ts';

interface Found {
  /** The position in the list of references, counted from 1. */
  readonly ord: number;
  readonly id: string;
  readonly project_id: string;
}

/** Finds the stories of these references, in any project. References to missing stories are left out. */
export async function findStories(db: Db, refs: readonly string[]): Promise<Found[]> {
  if (refs.length === 0) return [];
  return db.all(
    sql<Found>`select n.ord, s.id, s.project_id
       from ${storiesOf(refs)} n join stories s on ${of('s')} and s.id = n.id`,
  );
}

/**
 * Returns the IDs of the named blockers, oldest first and without duplicates. Throws if one is not in the
 * project.
 */
export async function blockersIn(
  context: { db: Db; caller: Caller; refuse: (reason: 'mismatched_project') => ApiError },
  projectId: string,
  refs: readonly string[],
  found: readonly Found[],
): Promise<string[]> {
  const here = found.filter((story) => story.project_id === projectId);
  const places = new Set(here.map(({ ord }) => ord));
  const missing = refs.findIndex((_, index) => !places.has(index + 1));
  if (missing !== -1) {
    const named = { ref: refs[missing] ?? '', path: `blockedBy.${missing}` };
    throw await notInProject(context, projectId, 'stories', named);
  }
  return [...new Set(here.map(({ id }) => id))].sort();
}

/**
 * Reports whether these blockers would create a cycle. The result is exact while the project's counters are
 * locked.
 */
export async function closesCircle(db: Db, storyId: string, blockerIds: readonly string[]): Promise<boolean> {
  if (blockerIds.length === 0) return false;
  // The recursion visits each story once, so it terminates. The limit stops it at the first path back.
  const back = await db.find(
    sql`with recursive waits (id) as (
         select unnest(${blockerIds}::uuid[])
         union
         select b.blocker_id from waits w cross join lateral (
           select n.blocker_id from story_blockers n where ${of('n')} and n.story_id = w.id offset 0) b)
       select w.id from waits w where w.id = ${storyId} limit 1`,
  );
  return back !== undefined;
}

export const insertBlockers = (
  projectId: string,
  storyId: string,
  blockerIds: readonly string[],
): Query<unknown> =>
  sql`insert into story_blockers (org_id, project_id, story_id, blocker_id) select ${organization}, ${projectId}, ${storyId}, unnest(${blockerIds}::uuid[])`;

export const deleteBlockers = (storyId: string, blockerIds: readonly string[]): Query<unknown> =>
  sql`delete from story_blockers where ${of()} and story_id = ${storyId} and blocker_id = any (${blockerIds}::uuid[])`;
