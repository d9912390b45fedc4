/** Reads and writes the records that an import takes from an archive of another installation. */
import {
  currentOrgId,
  type Db,
  orgFilter,
  type Part,
  type Query,
  sql,
  splitIntoPortions,
} from '@muster/driver';
import { boardColumns, type ColumnRow } from './columns.ts';
import { type MatchedMember } from './import-board.ts';
import { importItemKey, type ImportItemRow, type ImportRow, readInBatches } from './imports.ts';

const intoEmptyProjectSql = (projectId: Part): Part =>
  sql.part`select i.created_at from imports i where ${orgFilter('i')} and i.project_id = ${projectId} and i.into_empty_project`;

/**
 * Returns whether stories of an archive keep their numbers: the project never had stories, or an earlier import found
 * it empty and no other stories were added since.
 */
export const isProjectEmpty = async (db: Db, projectId: string): Promise<boolean> =>
  (
    await db.one(
      sql<{ is_empty: boolean }>`select k.last_story_number = 0
           or exists (${intoEmptyProjectSql(sql.part`k.project_id`)}) and not exists (select from stories s
             where ${orgFilter('s')} and s.project_id = k.project_id and not exists (select from import_items n
               join imports i on ${orgFilter('i')} and i.id = n.made_by and i.into_empty_project
               where ${orgFilter('n')} and n.record_id = s.id and n.kind = 'story')) as is_empty
         from project_counters k where ${orgFilter('k')} and k.project_id = ${projectId}`,
    )
  ).is_empty;

/** Reads the notes of earlier puts about the records with these ids in the archive, by importItemKey. */
export async function findArchivedRecords(
  db: Db,
  { project_id: projectId, provider }: ImportRow,
  archiveIds: readonly string[],
): Promise<Map<string, ImportItemRow>> {
  const rows = await readInBatches(archiveIds, (portion) =>
    db.all(
      sql<ImportItemRow>`select i.* from unnest(${portion}::text[]) w (external_id)
         cross join lateral (select i.kind, i.external_id, i.record_id, i.source_hash, i.record_version from import_items i
           where ${orgFilter('i')} and i.project_id = ${projectId} and i.provider = ${provider}
             and i.kind = any ('{story,epic,comment,project,column,member,agent,team,reviewer,assignment,attachment,contract,prompt,view}')
             and i.external_id = w.external_id) i`,
    ),
  );
  return new Map(rows.map((row) => [importItemKey(row.kind, row.external_id), row]));
}

/** Returns the id in the archive of the project whose lines this import has taken; undefined before the first. */
export const findArchivedProjectId = async (db: Db, importRow: ImportRow): Promise<string | undefined> =>
  (
    await db.find(
      sql<{ external_id: string }>`select i.external_id from import_items i
         where ${orgFilter('i')} and i.import_id = ${importRow.id} and i.kind = 'project' limit 1`,
    )
  )?.external_id;

/** Finds active members by e-mail address in lower case, whether or not they see the project. Locks them. */
export async function findOrgMembersByEmail(
  db: Db,
  emails: readonly string[],
): Promise<Map<string, MatchedMember>> {
  const rows = await db.all(
    sql<MatchedMember & { email: string }>`select m.id, m.name, lower(m.email) as email from members m
       where ${orgFilter('m')} and m.status = 'active' and lower(m.email) = any (${emails.map((email) => email.toLowerCase())}::text[])
       order by m.id for share of m`,
  );
  return new Map(rows.map(({ email, ...member }) => [email, member]));
}

export interface MatchedAgent {
  readonly id: string;
  readonly member_id: string;
  readonly name: string;
  readonly slug: string;
  readonly retired_at: string | null;
}

/** Finds the agents with these slugs, names or ids, including retired ones. */
export const findAgents = (
  db: Db,
  { slugs, names, ids }: Readonly<Record<'slugs' | 'names' | 'ids', readonly string[]>>,
): Promise<MatchedAgent[]> =>
  db.all(
    sql<MatchedAgent>`select a.id, a.member_id, a.name, a.slug, a.retired_at from agents a
       where ${orgFilter('a')} and (a.slug = any (${slugs}::text[]) or a.name = any (${names}::text[]) or a.id = any (${ids}::uuid[]))`,
  );

/** Returns the number of active agents of each of these members that has any. */
export const countAgentsOfMembers = async (
  db: Db,
  memberIds: readonly string[],
): Promise<Map<string, number>> => {
  const rows = await db.all(
    sql<{ member_id: string; count: number }>`select a.member_id, count(*)::int as count from agents a
       where ${orgFilter('a')} and a.member_id = any (${memberIds}::uuid[]) and a.retired_at is null group by a.member_id`,
  );
  return new Map(rows.map(({ member_id: id, count }) => [id, count]));
};

/** Returns those of these members and agents that can take part in the project. Locks the members. */
export async function findParticipantIds(
  db: Db,
  projectId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db.all(
    sql<{ member_id: string; agent_ids: string[] }>`select m.id as member_id,
         array(select a.id from agents a where ${orgFilter('a')} and a.member_id = m.id and a.retired_at is null
           and a.id = any (${ids}::uuid[])) as agent_ids
       from members m join projects p on p.org_id = m.org_id and p.id = ${projectId}
       where ${orgFilter('m')} and m.status = 'active'
         and m.id in (select unnest(${ids}::uuid[]) union
           select a.member_id from agents a where ${orgFilter('a')} and a.id = any (${ids}::uuid[]))
         and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null
       order by m.id for share of m`,
  );
  return new Set(rows.flatMap((row) => [row.member_id, ...row.agent_ids]));
}

/** A story's place and numbers, of which each exists once. */
export interface TakenUniqueValues {
  readonly number: number;
  readonly column_id: string | null;
  readonly rank: string;
  readonly upstream: string | null;
}

/** Returns the key by which a story's upstream record is unique in its project. */
export const upstreamKey = (upstream: { readonly provider: string; readonly externalId: string }): string =>
  `${upstream.provider} ${upstream.externalId}`;

/** Reads the stories of a project that have one of these numbers, ranks or upstream records. */
export const findTakenUniqueValues = (
  db: Db,
  projectId: string,
  wanted: {
    readonly numbers: readonly number[];
    readonly columnIds: readonly string[];
    readonly ranks: readonly string[];
    readonly upstreams: readonly { readonly provider: string; readonly externalId: string }[];
  },
): Promise<TakenUniqueValues[]> => {
  const taken = sql.part`s.number, s.column_id, s.rank, s.upstream ->> 'provider' || ' ' || (s.upstream ->> 'externalId') as upstream`;
  const inProject = sql.part`${orgFilter('s')} and s.project_id = ${projectId}`;
  return db.all(
    sql<TakenUniqueValues>`select ${taken} from stories s where ${inProject} and s.number = any (${wanted.numbers}::int[])
       union all
       select ${taken} from stories s where ${inProject} and s.column_id = any (${wanted.columnIds}::uuid[]) and s.rank = any (${wanted.ranks}::text[])
       union all
       select ${taken} from stories s where ${inProject} and s.column_id is null and s.rank = any (${wanted.ranks}::text[])
       union all
       select ${taken} from unnest(${wanted.upstreams.map(({ provider }) => provider)}::text[], ${wanted.upstreams.map(({ externalId }) => externalId)}::text[]) w (provider, external_id)
         join stories s on ${inProject} and s.upstream is not null and s.upstream ->> 'provider' = w.provider and s.upstream ->> 'externalId' = w.external_id`,
  );
};

/** Returns the reviewing members and agents of these stories. */
export const findReviewersOfStories = (
  db: Db,
  storyIds: readonly string[],
): Promise<{ story_id: string; reviewer_id: string }[]> =>
  db.all(
    sql<{
      story_id: string;
      reviewer_id: string;
    }>`select r.story_id, coalesce(r.member_id, r.agent_id) as reviewer_id from story_reviewers r
       where ${orgFilter('r')} and r.story_id = any (${storyIds}::uuid[])`,
  );

/** Returns those of these stories and epics that are assigned. */
export const findAssignedTargets = async (db: Db, targetIds: readonly string[]): Promise<string[]> =>
  (
    await db.all(
      sql<{ target_id: string }>`select a.target_id from assignments a
         where ${orgFilter('a')} and a.target_type in ('story', 'epic') and a.target_id = any (${targetIds}::uuid[])`,
    )
  ).map(({ target_id: id }) => id);

export interface UploadedFile {
  readonly id: string;
  /** The comment, or the story if the file is attached to the story itself. */
  readonly target_id: string;
  readonly name: string;
  readonly sha256: string;
  readonly kind: string;
}

/** Finds files with these hashes that the member attached to these stories and comments, and that were not imported. */
export const findUploads = (
  db: Db,
  memberId: string,
  targetIds: readonly string[],
  files: readonly { readonly sha256: string }[],
): Promise<UploadedFile[]> =>
  db.all(
    sql<UploadedFile>`select a.id, coalesce(a.comment_id, a.story_id) as target_id, a.name, a.sha256, a.kind from attachments a
       where ${orgFilter('a')} and (a.story_id = any (${targetIds}::uuid[]) or a.comment_id = any (${targetIds}::uuid[]))
         and a.execution_id is null and a.state = 'stored' and a.author_member_id = ${memberId} and a.imported_by is null
         and a.sha256 = any (${files.map(({ sha256 }) => sha256)}::text[])
       order by a.id`,
  );

/** Sets the current versions of specs. The stories count as unchanged. */
export const setSpecVersions = (
  versions: readonly { readonly storyId: string; readonly version: number }[],
): Query<unknown> =>
  sql`update stories s set spec_version = w.version
     from unnest(${versions.map(({ storyId }) => storyId)}::uuid[], ${versions.map(({ version }) => version)}::int[]) w (story_id, version)
     where ${orgFilter('s')} and s.id = w.story_id`;

export interface ImportedAssignment {
  readonly target_type: 'story' | 'epic';
  readonly target_id: string;
  readonly project_id: string;
  readonly member_id: string | null;
  readonly agent_id: string | null;
  readonly assigned_by: unknown;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Assigns stories and epics that nobody is assigned to. */
export const insertImportedAssignments = (rows: readonly ImportedAssignment[]): Query<unknown> =>
  sql`insert into assignments (org_id, target_type, target_id, project_id, member_id, agent_id, assigned_by, created_at, updated_at)
     select ${currentOrgId}, r.target_type, r.target_id, r.project_id, r.member_id, r.agent_id, r.assigned_by, r.created_at, r.updated_at
     from jsonb_populate_recordset(null::assignments, ${JSON.stringify(rows)}::jsonb) r
     on conflict (org_id, target_type, target_id) do nothing`;

export interface ImportedReaction {
  readonly comment_id: string;
  readonly member_id: string;
  readonly emoji: string;
  readonly created_at: string;
}

export const insertImportedReactions = (rows: readonly ImportedReaction[]): Query<unknown>[] =>
  splitIntoPortions(
    rows.map((row) => JSON.stringify(row)),
    (row) => row.length,
  ).map(
    (portion) => sql`insert into comment_reactions (org_id, comment_id, member_id, emoji, created_at)
       select ${currentOrgId}, r.comment_id, r.member_id, r.emoji, r.created_at
       from jsonb_populate_recordset(null::comment_reactions, ${`[${portion.join()}]`}::jsonb) r
       on conflict do nothing`,
  );

/** Gives roles in a project to members without a role in it. */
export const insertProjectMembers = (
  projectId: string,
  members: readonly { readonly memberId: string; readonly role: string; readonly addedAt: string }[],
): Query<unknown> =>
  sql`insert into project_members (org_id, project_id, member_id, role, created_at)
     select ${currentOrgId}, ${projectId}::uuid, m.id, w.role, w.added_at
     from unnest(${members.map(({ memberId }) => memberId)}::uuid[], ${members.map(({ role }) => role)}::text[], ${members.map(({ addedAt }) => addedAt)}::timestamptz[]) w (member_id, role, added_at)
     join members m on ${orgFilter('m')} and m.id = w.member_id and m.status = 'active' and (m.role <> 'viewer' or w.role = 'viewer')
     on conflict (org_id, project_id, member_id) do nothing`;

/**
 * Reads the active columns of a board from left to right. A column is unused if it is older than the first import
 * into the empty project, has no stories, and is the counterpart of no column of the archive, although the archive has columns.
 */
export const findBoardColumns = (
  db: Db,
  { project_id: projectId, provider }: ImportRow,
): Promise<(ColumnRow & { readonly is_unused: boolean })[]> =>
  db.all(
    sql<ColumnRow & { readonly is_unused: boolean }>`select ${boardColumns.list},
         c.story_count = 0 and c.created_at <= all (${intoEmptyProjectSql(sql.part`c.project_id`)}) and exists (select from import_items i where ${orgFilter('i')} and i.project_id = c.project_id
             and i.provider = ${provider} and i.kind = 'column')
           and not exists (select from import_items i where ${orgFilter('i')} and i.record_id = c.id and i.kind = 'column') as is_unused
       from board_columns c where ${orgFilter('c')} and c.project_id = ${projectId} and c.archived_at is null
       order by c.position, c.id`,
  );

export const deleteColumns = (ids: readonly string[]): Query<unknown> =>
  sql`delete from board_columns where ${orgFilter()} and id = any (${ids}::uuid[])`;
