/**
 * The stories of a group. They are locked while they join a group, so that no work on them begins at the same
 * time.
 */
import { type Db, orgFilter, currentOrgId, type Part, type Query, sql } from '@muster/driver';
import { type GroupState, type Trust } from '@muster/contract';
import { type ApiError, badRequest, type Caller, pathNotFound, projectsVisibleTo } from '@muster/runtime';
import { storyIdsSql, storyIdSql } from '@muster/tenancy';
import { isGroupMergedSql, isStoryMergedSql } from './groups.ts';

/** A story named by the caller, and its open group. */
interface NamedStory {
  readonly ord: number;
  readonly id: string;
  readonly key: string;
  readonly group_id: string | null;
  readonly group_name: string | null;
  readonly group_state: GroupState | null;
}

/** The stories that are to join, and their project and group. */
export interface JoiningStories {
  readonly storyRefs: readonly string[];
  /** The project's ID. */
  readonly projectIdSql: Part;
  /** The group whose stories are replaced; null before the group exists. */
  readonly groupId: string | null;
}

/**
 * Locks the named stories and the stories of the group, by ID. An acquire also locks its story, so it runs
 * before or after this change. Then reads the named stories in the given order. Stories outside of the
 * project are missing from the result.
 */
export async function lockNamedStories(db: Db, joiningStories: JoiningStories): Promise<NamedStory[]> {
  const { storyRefs, projectIdSql, groupId } = joiningStories;
  const members =
    groupId === null
      ? sql.empty
      : sql.part`union select d.story_id from delivery_group_stories d
         where ${orgFilter('d')} and d.group_id = ${groupId}::uuid`;
  const [, stories] = await Promise.all([
    db.all(
      sql`select s.id from stories s
         where ${orgFilter('s')} and s.project_id = ${projectIdSql}
           and s.id = any (array(select n.id from ${storyIdsSql(storyRefs)} n ${members}))
         order by s.id for no key update of s`,
    ),
    // A separate statement reads the stories, because it has to see their state after the wait for the locks.
    db.all(
      sql<NamedStory>`select n.ord, s.id, p.key || '-' || s.number as key, g.id as group_id, g.name as group_name,
           g.state as group_state
         from ${storyIdsSql(storyRefs)} n
         join stories s on ${orgFilter('s')} and s.id = n.id and s.project_id = ${projectIdSql}
         join projects p on ${orgFilter('p')} and p.id = s.project_id
         left join delivery_group_stories d on ${orgFilter('d')} and d.story_id = s.id and d.open
         left join delivery_groups g on ${orgFilter('g')} and g.id = d.group_id
         order by n.ord`,
    ),
  ]);
  return stories;
}

interface JoinContext {
  readonly db: Db;
  readonly caller: Caller;
  readonly refuse: (
    reason: 'mismatched_project' | 'in_active_group',
    details?: Record<string, unknown>,
  ) => ApiError;
}

/**
 * Returns the IDs of locked stories in the given order. Throws if one is outside of the project, named twice,
 * or in another group.
 */
export async function requireJoinable(
  context: JoinContext,
  { storyRefs, groupId }: JoiningStories,
  projectId: string,
  namedStories: readonly NamedStory[],
): Promise<string[]> {
  const { refuse } = context;
  const byOrd = new Map(namedStories.map((story) => [story.ord, story]));
  const missing = storyRefs.findIndex((_, index) => !byOrd.has(index + 1));
  if (missing !== -1)
    throw await notInProjectError(context, projectId, storyRefs[missing] ?? '', `storyIds.${missing}`);
  const ids = namedStories.map(({ id }) => id);
  // The caller may name the same story by ID and by key.
  const twice = ids.findIndex((id, index) => ids.indexOf(id) !== index);
  if (twice !== -1) {
    const message = `names the same story as storyIds[${ids.indexOf(ids[twice] ?? '')}]`;
    throw badRequest('A story is named more than once.', [{ path: `storyIds[${twice}]`, message }]);
  }
  const elsewhere = namedStories
    .filter((story) => story.group_id !== null && story.group_id !== groupId)
    .map((story) => ({
      groupId: story.group_id,
      name: story.group_name,
      state: story.group_state,
      storyId: story.id,
      storyKey: story.key,
    }));
  const [first] = elsewhere;
  if (first !== undefined) throw refuse('in_active_group', { ...first, stories: elsewhere });
  return ids;
}

/** Returns mismatched_project if the caller can see the story in another project, and not_found otherwise. */
async function notInProjectError(
  { db, caller, refuse }: JoinContext,
  projectId: string,
  storyRef: string,
  path: string,
): Promise<ApiError> {
  const story = await db.find(
    sql`select s.id from stories s join ${projectsVisibleTo(caller)} v on v.project_id = s.project_id
       where ${orgFilter('s')} and s.id = ${storyIdSql(storyRef)} and s.project_id <> ${projectId}::uuid`,
  );
  return story === undefined ? pathNotFound(path) : refuse('mismatched_project', { storyId: storyRef });
}

/** Returns statements that give a locked group these stories in this order. Other stories leave it. */
export const replaceStoriesOfGroup = (
  projectId: string,
  groupId: string,
  storyIds: readonly string[],
): Query<unknown>[] => [
  sql`delete from delivery_group_stories
     where ${orgFilter()} and group_id = ${groupId} and story_id <> all (${storyIds}::uuid[])`,
  sql`insert into delivery_group_stories (org_id, project_id, group_id, story_id, position)
     select ${currentOrgId}, ${projectId}, ${groupId}, n.id, n.ord from unnest(${storyIds}::uuid[]) with ordinality n (id, ord)
     on conflict (org_id, group_id, story_id) do update set position = excluded.position`,
];

/** Lets the stories of an ended group join other groups. */
export const releaseStoriesOfGroup = (groupId: string): Query<unknown> =>
  sql`update delivery_group_stories set open = false where ${orgFilter()} and group_id = ${groupId} and open`;

/** The proof of a group's merge. */
export interface MergeProof {
  /**
   * The strongest proof of a merge of the group itself, or of each of its stories. Null if no such merge was
   * observed.
   */
  readonly strongestTrust: Trust | null;
  /**
   * For each level of trust, the keys of the stories for which no merge of that trust was observed, in the
   * order of the group. Canceled stories are left out, because they need no merge.
   */
  readonly unmergedKeysByTrust: Readonly<Record<Trust, readonly string[]>>;
}

/**
 * Reads whether a merge of the group or merges of all its stories were observed, and whether these
 * observations were reported or verified.
 */
export async function getMergeProof(db: Db, groupId: string): Promise<MergeProof> {
  const row = await db.one(
    sql<{
      group: boolean;
      group_verified: boolean;
      stories: number;
      unmerged: string[];
      unverified: string[];
    }>`select ${isGroupMergedSql.reported} as group, ${isGroupMergedSql.verified} as group_verified, m.stories, m.unmerged, m.unverified
       from delivery_groups g cross join lateral (
         select count(*)::int as stories,
           coalesce(array_agg(x.key order by x.position) filter (where not x.merged), '{}') as unmerged,
           coalesce(array_agg(x.key order by x.position) filter (where not x.verified), '{}') as unverified
         from (select d.position, p.key || '-' || s.number as key, ${isStoryMergedSql.reported} as merged,
             ${isStoryMergedSql.verified} as verified
           from delivery_group_stories d
           join stories s on ${orgFilter('s')} and s.id = d.story_id
           join projects p on ${orgFilter('p')} and p.id = s.project_id
           where ${orgFilter('d')} and d.group_id = g.id and s.status <> 'canceled') x) m
       where ${orgFilter('g')} and g.id = ${groupId}`,
  );
  const isMerged = (group: boolean, unmerged: readonly string[]): boolean =>
    group || (row.stories > 0 && unmerged.length === 0);
  const unmerged = {
    reported: row.group ? [] : row.unmerged,
    verified: row.group_verified ? [] : row.unverified,
  };
  if (isMerged(row.group_verified, row.unverified))
    return { strongestTrust: 'verified', unmergedKeysByTrust: unmerged };
  return {
    strongestTrust: isMerged(row.group, row.unmerged) ? 'reported' : null,
    unmergedKeysByTrust: unmerged,
  };
}
