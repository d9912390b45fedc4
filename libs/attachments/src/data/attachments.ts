/** The attachments table. */
import {
  CursorId,
  decodeCursor,
  type Db,
  defineRecord,
  type IdOrSql,
  orgFilter,
  pageOfRows,
  type Part,
  type Query,
  type RowOf,
  sql,
} from '@muster/driver';
import {
  type Attachment,
  type AttachmentTargetType,
  type CodeUnderReview,
  isEvidenceStale,
  type ParamsOf,
  type ResultOf,
  type Subject,
} from '@muster/contract';
import { type AttachmentsRegistry } from '@muster/attachments-registry';
import { z } from 'zod';
import { downloadSeconds, signedPath } from '../rules/addresses.ts';

export const attachments = defineRecord('attachments', 'a', {
  project_id: { hidden: true },
  story_id: {},
  comment_id: { hidden: true, initial: null },
  execution_id: { hidden: true, initial: null },
  name: {},
  content_type: {},
  size: {},
  sha256: {},
  kind: {},
  state: { initial: 'pending' },
  head_sha: { initial: null },
  code_seq: { hidden: true, initial: null },
  report: { initial: null },
  author: {},
  author_member_id: { hidden: true },
  imported_by: { initial: null },
  imported_from: { initial: null },
});
export type AttachmentRow = RowOf<typeof attachments>;

/** An attachment with the current code of its story, which decides whether it is stale. */
export interface AttachmentWithCode extends AttachmentRow {
  readonly code: CodeUnderReview | null;
}

const withCodeColumns = sql.part`${attachments.list}, s.code from attachments a
  left join stories s on s.org_id = a.org_id and s.id = a.story_id`;

export const getAttachment = (db: Db, id: IdOrSql): Promise<AttachmentWithCode> =>
  db.get(sql<AttachmentWithCode>`select ${withCodeColumns} where ${orgFilter('a')} and a.id = ${id}`);

/** The signing of download addresses: whose, with which key, and from when they are valid. */
export interface DownloadSigning {
  readonly baseUrl: string;
  readonly orgId: string;
  readonly organizationKey: Buffer;
  readonly signedAt: string;
}

/** Returns the attachment without the address of its file. */
export function toAttachmentRecord(row: AttachmentWithCode): Omit<Attachment, 'downloadUrl'> {
  const { comment_id: commentId, execution_id: executionId } = row;
  const targetType: AttachmentTargetType =
    commentId !== null ? 'comment' : executionId !== null ? 'execution' : 'story';
  return {
    ...attachments.shown(row),
    targetType,
    targetId: commentId ?? executionId ?? row.story_id ?? '',
    stale: isEvidenceStale({ codeSeq: row.code_seq, headSha: row.head_sha }, row.code),
  };
}

export function toAttachment(row: AttachmentWithCode, signing: DownloadSigning): Attachment {
  const { baseUrl, orgId, organizationKey, signedAt: at } = signing;
  const path = signedPath(organizationKey, {
    ...{ method: 'GET', orgId, attachmentId: row.id },
    expiresAtMillis: Date.parse(at) + downloadSeconds * 1_000,
  });
  return {
    ...toAttachmentRecord(row),
    downloadUrl: row.state === 'stored' ? baseUrl + path : null,
  };
}

/** The record to which a file is attached. */
export interface AttachmentTarget {
  readonly story_id: string | null;
  readonly comment_id: string | null;
  readonly execution_id: string | null;
  readonly project_id: string;
  readonly code: CodeUnderReview | null;
}

const nullUuid = sql.part`null::uuid`;
const targetQueryByType: Readonly<Record<AttachmentTargetType, (id: Part) => Part>> = {
  story: (
    id,
  ) => sql.part`select s.id as story_id, ${nullUuid} as comment_id, ${nullUuid} as execution_id, s.project_id, s.code
    from stories s where ${orgFilter('s')} and s.id = ${id}`,
  comment: (
    id,
  ) => sql.part`select s.id as story_id, c.id as comment_id, ${nullUuid} as execution_id, s.project_id, s.code
    from comments c join stories s on s.org_id = c.org_id and s.id = c.story_id
    where ${orgFilter('c')} and c.id = ${id} and c.deleted_at is null`,
  execution: (
    id,
  ) => sql.part`select s.id as story_id, ${nullUuid} as comment_id, e.id as execution_id, e.project_id, s.code
    from executions e left join stories s on s.org_id = e.org_id and e.target_type = 'story' and s.id = e.target_id
    where ${orgFilter('e')} and e.id = ${id}`,
};

export const getAttachmentTarget = (
  db: Db,
  type: AttachmentTargetType,
  id: Part,
): Promise<AttachmentTarget> => db.get(sql<AttachmentTarget>`${targetQueryByType[type](id)}`);

/**
 * Returns the bytes of the organization's attachments and of those of deleted stories, which can be restored. Callers wait for each other until they commit, so that they
 * cannot exceed the quota together.
 */
export async function lockStoredBytes(db: Db, orgId: string): Promise<number> {
  const [, { bytes }] = await Promise.all([
    db.all(sql`select pg_advisory_xact_lock(hashtextextended(${`attachments ${orgId}`}, 0))`),
    db.one(
      sql<{
        bytes: number;
      }>`select coalesce(sum(f.size), 0)::bigint as bytes from (
           select a.size from attachments a where ${orgFilter('a')}
           union all select (d.record ->> 'size')::int from deleted_records d where ${orgFilter('d')} and d.kind = 'attachments') f`,
    ),
  ]);
  return bytes;
}

export const deleteAttachment = (id: string): Query<unknown> =>
  sql`delete from attachments where ${orgFilter()} and id = ${id}`;

const targetConditionByType: Readonly<
  Record<AttachmentTargetType, (id: IdOrSql, includeParts: boolean) => Part>
> = {
  story: (id, includeParts) =>
    sql.part`a.story_id = ${id} ${includeParts ? sql.empty : sql.part`and a.comment_id is null and a.execution_id is null`}`,
  comment: (id) => sql.part`a.comment_id = ${id}`,
  execution: (id) => sql.part`a.execution_id = ${id}`,
};

const Cursor = z.tuple([CursorId]);

/** The condition of `isEvidenceStale` in SQL. */
const isStale = sql.part`s.code is not null and num_nonnulls(a.code_seq, a.head_sha) > 0
  and a.code_seq is distinct from (s.code ->> 'seq')::int
  and not coalesce(starts_with(a.head_sha, s.code ->> 'headSha') or starts_with(s.code ->> 'headSha', a.head_sha), false)`;

/** Lists stored attachments, newest first. */
export async function listAttachments(
  db: Db,
  targetId: IdOrSql,
  params: ParamsOf<AttachmentsRegistry['attachments']['list']>,
  signing: () => Promise<DownloadSigning>,
): Promise<ResultOf<AttachmentsRegistry['attachments']['list']>> {
  const { targetType, kind, includeStale, includeParts, limit, cursor } = params;
  const where = [
    orgFilter('a'),
    targetConditionByType[targetType](targetId, includeParts),
    sql.part`a.state = 'stored'`,
  ];
  if (kind !== undefined) where.push(sql.part`a.kind = ${kind}`);
  if (!includeStale) where.push(sql.part`not (${isStale})`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`a.id < ${after[0]}::uuid`);
  const [rows, signed] = await Promise.all([
    db.all(
      sql<AttachmentWithCode>`select ${withCodeColumns} where ${sql.join(where, ' and ')}
         order by a.id desc limit ${limit + 1}`,
    ),
    signing(),
  ]);
  return pageOfRows(
    rows,
    limit,
    (row) => [row.id],
    (row) => toAttachment(row, signed),
  );
}

/** The record that an event about an attachment is about: the story, or the delivery group of its execution. */
export async function getAttachmentSubject(db: Db, id: IdOrSql): Promise<Subject> {
  return db.get(
    sql<Subject>`select case when s.id is null then 'delivery_group' else 'story' end as type,
         coalesce(s.id, g.id) as id, p.key || '-' || s.number as key, coalesce(s.title, g.name) as title,
         p.id as "projectId"
       from attachments a join projects p on p.org_id = a.org_id and p.id = a.project_id
       left join stories s on s.org_id = a.org_id and s.id = a.story_id
       left join executions e on e.org_id = a.org_id and e.id = a.execution_id and a.story_id is null
       left join delivery_groups g on g.org_id = e.org_id and g.id = e.target_id
       where ${orgFilter('a')} and a.id = ${id}`,
  );
}
