/** Which stories wait for which: a story's blockers are stories of its own project, and no circle of them exists. */
import { type Db, type Query, sqlQuery } from '@muster/database';
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
export async function findStories(db: Db, orgId: string, refs: readonly string[]): Promise<Found[]> {
  if (refs.length === 0) return [];
  const parsed = refs.map(parseStoryRef);
  const ids = parsed.flatMap((ref) => ('id' in ref ? [ref.id] : []));
  const keys = parsed.flatMap((ref) => ('id' in ref ? [] : [ref]));
  return db.all(
    sqlQuery<Found>(
      `select s.id::text as ref, s.id, s.project_id from stories s where s.org_id = $1 and s.id = any ($2::uuid[])
       union all
       select k.project_key || '-' || k.number, s.id, s.project_id
       from unnest($3::text[], $4::int[]) k (project_key, number)
       join projects p on p.org_id = $1 and p.key = k.project_key
       join stories s on s.org_id = $1 and s.project_id = p.id and s.number = k.number`,
      [orgId, ids, keys.map(({ projectKey }) => projectKey), keys.map(({ number }) => number)],
    ),
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
export async function closesCircle(
  db: Db,
  orgId: string,
  storyId: string,
  blockerIds: readonly string[],
): Promise<boolean> {
  if (blockerIds.length === 0) return false;
  // Each story is visited once, so this ends, and the limit ends it at the first way back.
  const back = await db.find(
    sqlQuery(
      `with recursive waits (id) as (
         select unnest($3::uuid[])
         union
         select b.blocker_id from waits w cross join lateral (
           select n.blocker_id from story_blockers n where n.org_id = $1 and n.story_id = w.id offset 0) b)
       select w.id from waits w where w.id = $2 limit 1`,
      [orgId, storyId, blockerIds],
    ),
  );
  return back !== undefined;
}

export const insertBlockers = (
  orgId: string,
  projectId: string,
  storyId: string,
  blockerIds: readonly string[],
): Query<unknown> =>
  sqlQuery(
    `insert into story_blockers (org_id, project_id, story_id, blocker_id) select $1, $2, $3, unnest($4::uuid[])`,
    [orgId, projectId, storyId, blockerIds],
  );

export const deleteBlockers = (
  orgId: string,
  storyId: string,
  blockerIds: readonly string[],
): Query<unknown> =>
  sqlQuery(
    `delete from story_blockers where org_id = $1 and story_id = $2 and blocker_id = any ($3::uuid[])`,
    [orgId, storyId, blockerIds],
  );
