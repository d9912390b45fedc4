/** The tables code_changes and code_change_files: the changed files of a head, and their patches. */
import {
  currentOrgId,
  type Db,
  type DB,
  decodeCursor,
  type IdOrSql,
  limitToPageBytes,
  newId,
  orgFilter,
  pageOfRows,
  type Part,
  type Query,
  sql,
} from '@muster/driver';
import {
  type Actor,
  type ChangedFile,
  type ChangesFailure,
  type CodeUnderReview,
  type FilePatch,
  type InputOf,
  type internalOperations,
} from '@muster/contract';
import { noAgentId } from '@muster/tenancy';
import { type Selectable } from 'kysely';
import { z } from 'zod';
import { type StoredFileChange } from '../rules/change-limits.ts';

type ChangesRow = Omit<Selectable<DB['code_changes']>, 'org_id' | 'project_id'>;
type FileRow = Omit<Selectable<DB['code_change_files']>, 'org_id' | 'changes_id' | 'patch'>;

/** The heads of an execution whose changes are kept for each source, besides the current one. */
const maxHeadsPerSource = 10;

type ChangesReport = Omit<InputOf<typeof internalOperations.storeChanges>, 'reported'>;

/** Stores the changes of a head, unless the source has reported them before. Returns false then. */
export async function storeCodeChanges(
  db: Db,
  { executionId, headSha, baseSha, source, attachmentId, truncated = false }: ChangesReport,
  files: readonly StoredFileChange[],
): Promise<boolean> {
  const sum = (count: (file: StoredFileChange) => number): number =>
    files.reduce((total, file) => total + count(file), 0);
  const made = await db.find(
    sql<{
      id: string;
    }>`insert into code_changes as t (org_id, id, project_id, execution_id, source, head_sha, base_sha,
         state, attachment_id, file_count, additions, deletions, is_truncated, stored_at)
       select ${currentOrgId}, ${newId()}, e.project_id, e.id, ${source}, ${headSha}, ${baseSha}, 'ready', ${attachmentId},
         ${files.length}, ${sum(({ additions }) => additions)}, ${sum(({ deletions }) => deletions)}, ${truncated}, now()
       from executions e where ${orgFilter('e')} and e.id = ${executionId}
       on conflict (org_id, execution_id, source, head_sha) do update set state = 'ready', failure = null,
         base_sha = excluded.base_sha, attachment_id = excluded.attachment_id, file_count = excluded.file_count,
         additions = excluded.additions, deletions = excluded.deletions, is_truncated = excluded.is_truncated,
         stored_at = excluded.stored_at
         where t.state <> 'ready'
       returning t.id`,
  );
  if (made === undefined) return false;
  db.deferToCommit(
    sql`insert into code_change_files (org_id, changes_id, seq, path, old_path, status, additions, deletions, is_binary,
         is_truncated, patch)
       select ${currentOrgId}, ${made.id}, x.seq, x.path, x."oldPath", x.status, x.additions, x.deletions, x.binary,
         x.truncated, x.patch
       from jsonb_to_recordset(${JSON.stringify(files.map((file, index) => ({ seq: index + 1, ...file })))}::jsonb)
         as x (seq int, path text, "oldPath" text, status text, additions int, deletions int, "binary" boolean,
           truncated boolean, patch text)`,
  );
  db.deferToCommit(deleteOldHeads(executionId));
  return true;
}

/** Stores why the forge gave no changes of a head. Does not replace changes that were stored before. */
export const storeChangesFailure = (
  { executionId, headSha, source }: ChangesReport,
  failure: ChangesFailure,
): Query<unknown> =>
  sql`insert into code_changes as t (org_id, id, project_id, execution_id, source, head_sha, state, failure, stored_at)
     select ${currentOrgId}, ${newId()}, e.project_id, e.id, ${source}, ${headSha}, 'failed',
       ${JSON.stringify(failure)}::jsonb, now()
     from executions e where ${orgFilter('e')} and e.id = ${executionId}
     on conflict (org_id, execution_id, source, head_sha) do update set failure = excluded.failure,
       stored_at = excluded.stored_at where t.state <> 'ready'`;

const deleteOldHeads = (executionId: string): Query<unknown> =>
  sql`delete from code_changes where ${orgFilter()} and id in (
       select k.id from ${executionAndStorySql(
         sql.part`${executionId}`,
         sql.part`cross join lateral (
         select c.id, row_number() over (partition by c.source order by c.stored_at desc, c.id desc) as nth,
           coalesce(${isHeadSql(currentHeadSql)}, false) as is_current
         from code_changes c where ${orgFilter('c')} and c.execution_id = e.id) k`,
       )}
         and k.nth > ${sql.literal(maxHeadsPerSource)} and not k.is_current)`;

/** Returns true if the actor has held a lease of the execution. */
export const hasWorkedOn = async (
  db: Db,
  executionId: string,
  { memberId, agentId }: Actor,
): Promise<boolean> =>
  (
    await db.one(
      sql<{ worked: boolean }>`select exists (select from execution_contributors c
         where ${orgFilter('c')} and c.execution_id = ${executionId} and c.member_id = ${memberId}
           and c.agent_id = ${agentId ?? noAgentId}) as worked`,
    )
  ).worked;

/** The execution that `changes.diff` means. */
export const namedExecutionSql = (kind: 'story' | 'execution', id: IdOrSql): Part =>
  kind === 'execution'
    ? sql.part`${id}`
    : sql.part`(select x.id from executions x where ${orgFilter('x')} and x.target_type = 'story' and x.target_id = ${id}
         order by x.id desc limit 1)`;

const isHeadSql = (sha: Part): Part =>
  sql.part`(starts_with(c.head_sha, ${sha}) or starts_with(${sha}, c.head_sha))`;

/** The head under review of execution `e` with story `s`. */
const currentHeadSql = sql.part`coalesce(s.code ->> 'headSha', e.git ->> 'headSha')`;

/**
 * The changes to show of execution `e` with story `s`: those of the named head, otherwise of the head under review,
 * otherwise the newest ones. Of one head, those of the forge come first.
 */
const shownChangesSql = (headSha: string | undefined): Part =>
  sql.part`select c.* from code_changes c where ${orgFilter('c')} and c.execution_id = e.id
    ${headSha === undefined ? sql.empty : sql.part`and ${isHeadSql(sql.part`${headSha}::text`)}`}
    order by coalesce(${isHeadSql(currentHeadSql)}, false) desc, (c.state = 'ready') desc, (c.source = 'forge') desc,
      c.stored_at desc, c.id desc limit 1`;

const executionAndStorySql = (executionId: Part, joined: Part = sql.empty): Part =>
  sql.part`executions e left join stories s on ${orgFilter('s')} and e.target_type = 'story' and s.id = e.target_id
    ${joined} where ${orgFilter('e')} and e.id = ${executionId}`;

export interface ShownChanges {
  readonly executionId: string;
  readonly code: CodeUnderReview | null;
  readonly currentHeadSha: string | null;
  /** True if a connected forge has this head, so that a job is about to read its changes. */
  readonly isExpected: boolean;
  /** null if no changes are stored. */
  readonly shown: ChangesRow | null;
  /** The approvals of the story, the newest first. */
  readonly approvals: readonly { readonly codeSeq: number | null; readonly headSha: string | null }[];
}

export const findShownChanges = (
  db: Db,
  executionId: Part,
  headSha: string | undefined,
): Promise<ShownChanges | undefined> =>
  db.find(
    sql<ShownChanges>`select e.id as "executionId", s.code, ${currentHeadSql} as "currentHeadSha",
         (select to_jsonb(c) from (${shownChangesSql(headSha)}) c) as shown,
         exists (select from forge_pulls p join forge_repositories f on ${orgFilter('f')} and f.id = p.repository_id
             and f.external_id is not null
           join forge_connections n on ${orgFilter('n')} and n.id = f.connection_id and n.deleted_at is null
             and n.credentials_kind is not null
           where ${orgFilter('p')} and p.execution_id = e.id and p.head_sha = ${currentHeadSql}) as "isExpected",
         coalesce((select jsonb_agg(jsonb_build_object('codeSeq', r.code_seq, 'headSha', r.head_sha) order by r.decided_at desc)
           from story_reviewers r where ${orgFilter('r')} and r.story_id = s.id and r.verdict = 'approved'
             and r.imported_by is null), '[]') as approvals
       from ${executionAndStorySql(executionId)}`,
  );

const Cursor = z.tuple([z.int().min(0).max(2_147_483_647)]);

/** Lists the changed files of the shown changes. */
export async function listChangedFiles(
  db: Db,
  executionId: Part,
  query: {
    readonly headSha?: string | undefined;
    readonly path?: string | undefined;
    readonly limit: number;
    readonly cursor?: string | undefined;
  },
): Promise<{ items: ChangedFile[]; nextCursor: string | null }> {
  const { headSha, path, limit, cursor } = query;
  const after = decodeCursor(cursor, Cursor)?.[0] ?? 0;
  const rows = await db.all(
    sql<FileRow>`${limitToPageBytes(
      sql.part`select f.seq, f.path, f.old_path, f.status, f.additions, f.deletions, f.is_binary, f.is_truncated
         from code_change_files f where ${orgFilter('f')} and f.changes_id = ${shownIdSql(executionId, headSha)}
           and f.seq > ${after} ${pathFilter(path)} order by f.seq limit ${limit + 1}`,
      sql.part`(octet_length(q.path) + coalesce(octet_length(q.old_path), 0))`,
      sql.part`q.seq`,
    )}`,
  );
  return pageOfRows(
    rows,
    limit,
    ({ seq }) => [seq],
    (row) => ({
      ...{ path: row.path, oldPath: row.old_path, status: row.status },
      ...{ additions: row.additions, deletions: row.deletions },
      ...{ binary: row.is_binary, truncated: row.is_truncated },
    }),
  );
}

const shownIdSql = (executionId: Part, headSha: string | undefined): Part =>
  sql.part`(select (select c.id from (${shownChangesSql(headSha)}) c) from ${executionAndStorySql(executionId)})`;

const pathFilter = (path: string | undefined): Part =>
  path === undefined ? sql.empty : sql.part`and f.path = ${path}`;

/** Finds the patch of a file of the shown changes. */
export const findFilePatch = (
  db: Db,
  executionId: Part,
  { path, headSha }: { readonly path: string; readonly headSha?: string | undefined },
): Promise<FilePatch | undefined> =>
  db.find(
    sql<FilePatch>`select f.path, f.patch as text, f.is_truncated as truncated from code_change_files f
       where ${orgFilter('f')} and f.changes_id = ${shownIdSql(executionId, headSha)} ${pathFilter(path)}
         and f.patch is not null order by f.seq limit 1`,
  );
