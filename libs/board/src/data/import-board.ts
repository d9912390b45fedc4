/**
 * Reads and locks the board for an import, in the common order: counters, columns, stories. Also finds the
 * members that the import names.
 */
import { type Db, type DB, type IdOrSql, orgFilter, currentOrgId, type Query, sql } from '@muster/driver';
import { type Actor, type ColumnStatus } from '@muster/contract';
import { type Selectable } from 'kysely';
import { v7 } from 'uuid';
import { type CommentRow, comments } from './comments.ts';
import { type EpicRow, epics } from './epics.ts';
import { readInBatches } from './imports.ts';
import { stories, type StoryRow } from './stories.ts';

/** Returns an ID that sorts by this time. */
export const createIdForTime = (time: string): string => v7({ msecs: Date.parse(time) });

export interface ImportColumn {
  readonly id: string;
  readonly name: string;
  readonly status: ColumnStatus;
  /** The rank of the column's last story; null for an empty column. */
  readonly lastRank: string | null;
  readonly wipLimit: number | null;
  readonly storyCount: number;
}

export interface ImportBoard {
  readonly projectKey: string;
  readonly lastStoryNumber: number;
  /** The active columns from left to right. */
  readonly columns: readonly ImportColumn[];
}

/**
 * Locks the counters and the columns of a project. Imports into it are serialized, and no story can reach the
 * end of a column at the same time.
 */
export async function lockImportBoard(db: Db, projectId: IdOrSql): Promise<ImportBoard> {
  const [counters, , columns] = await Promise.all([
    db.get(
      sql<{ key: string; last: number }>`select p.key, k.last_story_number as last from project_counters k
         join projects p on p.org_id = k.org_id and p.id = k.project_id
         where ${orgFilter('k')} and k.project_id = ${projectId} for no key update of k`,
    ),
    db.all(
      sql`select c.id from board_columns c where ${orgFilter('c')} and c.project_id = ${projectId} order by c.id for no key update`,
    ),
    db.all(
      sql<ImportColumn>`select c.id, c.name, c.status, c.wip_limit as "wipLimit", c.story_count as "storyCount",
           (select n.rank from stories n where ${orgFilter('n')} and n.project_id = c.project_id and n.column_id = c.id
             order by n.rank desc limit 1) as "lastRank"
         from board_columns c where ${orgFilter('c')} and c.project_id = ${projectId} and c.archived_at is null
         order by c.position, c.id`,
    ),
  ]);
  return { projectKey: counters.key, lastStoryNumber: counters.last, columns };
}

/** Writes the last story number of a project whose counters are locked. */
export const setLastStoryNumber = (projectId: string, storyNumber: number): Query<unknown> =>
  sql`update project_counters set last_story_number = ${storyNumber} where ${orgFilter()} and project_id = ${projectId}`;

/** A story with the state of its open execution; null without one. */
export type ImportedStory = StoryRow & { readonly work: string | null };

/** Locks the existing stories among these IDs, ordered by ID. */
export async function lockStories(db: Db, ids: readonly string[]): Promise<Map<string, ImportedStory>> {
  const [, rows] = await Promise.all([
    db.all(
      sql`select s.id from stories s where ${orgFilter('s')} and s.id = any (${ids}::uuid[]) order by s.id for no key update`,
    ),
    db.all(
      sql<ImportedStory>`select ${stories.list}, p.key as project_key,
           (select e.state from executions e where ${orgFilter('e')} and e.target_type = 'story' and e.target_id = s.id
             and e.state <> 'completed') as work
         from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id
         where ${orgFilter('s')} and s.id = any (${ids}::uuid[])`,
    ),
  ]);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Finds the project's stories with these external IDs of the provider. */
export async function findStoriesByExternalId(
  db: Db,
  projectId: string,
  provider: string,
  externalIds: readonly string[],
): Promise<Map<string, { id: string; version: number }>> {
  const rows = await db.all(
    sql<{
      id: string;
      version: number;
      external_id: string;
    }>`select s.id, s.version, s.upstream ->> 'externalId' as external_id
       from stories s where ${orgFilter('s')} and s.project_id = ${projectId}
         and s.upstream ->> 'provider' = ${provider} and s.upstream ->> 'externalId' = any (${externalIds}::text[])`,
  );
  return new Map(rows.map(({ external_id: externalId, ...story }) => [externalId, story]));
}

/** Locks the existing epics among these IDs. */
export async function lockEpics(db: Db, ids: readonly string[]): Promise<Map<string, EpicRow>> {
  const rows = await db.all(
    sql<EpicRow>`select ${epics.list} from epics e where ${orgFilter('e')} and e.id = any (${ids}::uuid[]) order by e.id for no key update`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Locks the existing comments among these IDs. */
export async function lockComments(db: Db, ids: readonly string[]): Promise<Map<string, CommentRow>> {
  // The portions are read in the order of IDs, because all transactions lock comments in this order.
  const rows = await readInBatches([...ids].sort(), (portion) =>
    db.all(
      sql<CommentRow>`select ${comments.list} from comments c where ${orgFilter('c')} and c.id = any (${portion}::uuid[]) order by c.id for no key update`,
    ),
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** The story and the thread of a comment. */
export type CommentLocation = Pick<CommentRow, 'id' | 'story_id' | 'parent_id'>;

/** Reads the stories and threads of the existing comments among these IDs, without a lock. */
export async function findCommentLocations(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, CommentLocation>> {
  const rows = await readInBatches(ids, (portion) =>
    db.all(
      sql<CommentLocation>`select c.id, c.story_id, c.parent_id from comments c where ${orgFilter('c')} and c.id = any (${portion}::uuid[])`,
    ),
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Reads the current specs of stories by ID. Stories without a spec are left out. */
export async function findCurrentSpecs(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, Pick<Selectable<DB['story_specs']>, 'story_id' | 'version' | 'content'>>> {
  const rows = await db.all(
    sql<
      Pick<Selectable<DB['story_specs']>, 'story_id' | 'version' | 'content'>
    >`select p.story_id, p.version, p.content from stories s
       join story_specs p on p.org_id = s.org_id and p.story_id = s.id and p.version = s.spec_version
       where ${orgFilter('s')} and s.id = any (${ids}::uuid[])`,
  );
  return new Map(rows.map((row) => [row.story_id, row]));
}

export interface MatchedMember {
  readonly id: string;
  readonly name: string;
}

/**
 * Finds active members who can see the project, by e-mail address in lower case. Locks them as lockMember
 * does.
 */
export async function findMembersByEmail(
  db: Db,
  projectId: string,
  emails: readonly string[],
): Promise<Map<string, MatchedMember>> {
  if (emails.length === 0) return new Map();
  const wanted = [...new Set(emails.map((email) => email.toLowerCase()))];
  const rows = await db.all(
    sql<MatchedMember & { email: string }>`select m.id, m.name, lower(m.email) as email
       from members m join projects p on p.org_id = m.org_id and p.id = ${projectId}
       where ${orgFilter('m')} and m.status = 'active' and lower(m.email) = any (${wanted}::text[])
         and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null
       order by m.id for share of m`,
  );
  return new Map(rows.map(({ email, ...member }) => [email, member]));
}

/** Assigns new stories, without notifications. */
export const assignStories = (
  projectId: string,
  assigner: Actor,
  newAssignments: readonly { readonly storyId: string; readonly memberId: string }[],
  assignedAt: string,
): Query<unknown> =>
  sql`insert into assignments (org_id, target_type, target_id, project_id, member_id, assigned_by, created_at, updated_at)
     select ${currentOrgId}, 'story', a.story_id, ${projectId}::uuid, a.member_id, ${assigner}::jsonb, ${assignedAt}::timestamptz, ${assignedAt}::timestamptz
     from unnest(${newAssignments.map(({ storyId }) => storyId)}::uuid[], ${newAssignments.map(({ memberId }) => memberId)}::uuid[]) a (story_id, member_id)`;
