/** Which stories wait for which: a story's blockers are stories of its own project, and no circle of them exists. */
import { type Db, of, organization, type Query, sql } from '@muster/driver';
import { type ApiError, type Caller } from '@muster/runtime';
import { storiesOf } from '@muster/tenancy';
import { notInProject } from './elsewhere.ts';

interface Found {
  /** Its place among the references, from 1. */
  readonly ord: number;
  readonly id: string;
  readonly project_id: string;
}

/** The stories that the references name, of whatever project; those that do not exist are missing. */
export async function findStories(db: Db, refs: readonly string[]): Promise<Found[]> {
  if (refs.length === 0) return [];
  return db.all(
    sql<Found>`select n.ord, s.id, s.project_id
       from ${storiesOf(refs)} n join stories s on ${of('s')} and s.id = n.id`,
  );
}

/** The ids of the blockers named, oldest first and each once. Throws where one is not of the project. */
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

/** Whether the story is among what its blockers wait for. Exact while the project's counters are locked. */
export async function closesCircle(db: Db, storyId: string, blockerIds: readonly string[]): Promise<boolean> {
  if (blockerIds.length === 0) return false;
  // Each story is visited once, so this ends, and the limit ends it at the first way back.
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
