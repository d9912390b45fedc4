/** Which stories wait for which: a story's blockers are stories of its own project, and no circle of them exists. */
import { type Db, of, organization, type Query, sql } from '@muster/database';
import { type ApiError, type Caller } from '@muster/runtime';
import { notInProject } from './elsewhere.ts';
import { parseStoryRef } from './stories.ts';

interface Found {
  readonly ref: string;
  readonly id: string;
  readonly project_id: string;
}

/** A reference in one spelling. */
const spelled = (ref: string): string => {
  const parsed = parseStoryRef(ref);
  return 'id' in parsed ? parsed.id : `${parsed.projectKey}-${parsed.number}`;
};

/** The stories that the references name, of whatever project; those that do not exist are missing. */
export async function findStories(db: Db, refs: readonly string[]): Promise<Found[]> {
  if (refs.length === 0) return [];
  const parsed = refs.map(parseStoryRef);
  const ids = parsed.flatMap((ref) => ('id' in ref ? [ref.id] : []));
  const keys = parsed.flatMap((ref) => ('id' in ref ? [] : [ref]));
  return db.all(
    sql<Found>`select s.id::text as ref, s.id, s.project_id from stories s where ${of('s')} and s.id = any (${ids}::uuid[])
       union all
       select k.project_key || '-' || k.number, s.id, s.project_id
       from unnest(${keys.map(({ projectKey }) => projectKey)}::text[], ${keys.map(({ number }) => number)}::int[]) k (project_key, number)
       join projects p on ${of('p')} and p.key = k.project_key
       join stories s on ${of('s')} and s.project_id = p.id and s.number = k.number`,
  );
}

/** The ids of the blockers named, oldest first and each once. Throws where one is not of the project. */
export async function blockersIn(
  context: { db: Db; caller: Caller; refuse: (reason: 'mismatched_project') => ApiError },
  projectId: string,
  refs: readonly string[],
  found: readonly Found[],
): Promise<string[]> {
  const inProject = new Map(
    found.filter((story) => story.project_id === projectId).map(({ ref, id }) => [ref, id]),
  );
  for (const ref of refs) {
    if (!inProject.has(spelled(ref))) throw await notInProject(context, projectId, 'stories', ref);
  }
  return [...new Set(inProject.values())].sort();
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
