/** Reads attachments for an export: their records, and the files themselves. */
import { orgFilter, type Part, sql } from '@muster/driver';
import {
  afterKeySql,
  type ArchiveKey,
  type ArchiveReaders,
  type ArchiveSelection,
  createArchiveReader,
  isExportedProjectSql,
  keyTypes,
} from '@muster/tenancy';
import { attachments, type AttachmentWithCode, toAttachmentRecord } from './attachments.ts';

const pageSize = 200;

/** Returns SQL for the stored attachments `a` of an export after a key, in its order. */
function exportedAttachmentsSql(columns: Part, selection: ArchiveSelection, after: ArchiveKey | null): Part {
  const isOwn =
    selection.scope === 'me' ? sql.part`a.author_member_id = ${selection.memberId}::uuid` : sql.part`true`;
  return sql.part`select ${columns} from attachments a
    join projects p on ${orgFilter('p')} and p.id = a.project_id and ${isExportedProjectSql(selection)}
    left join stories s on ${orgFilter('s')} and s.id = a.story_id
    where ${orgFilter('a')} and a.state = 'stored' and a.updated_at <= ${selection.startedAt}::timestamptz and ${isOwn}
      and ${afterKeySql(sql.part`a.id`, after, [keyTypes.uuid])} order by a.id`;
}

export const attachmentsArchiveReaders: ArchiveReaders = {
  attachments: createArchiveReader({
    type: 'attachments',
    pageSize,
    select: (selection, after, limit) =>
      sql<AttachmentWithCode>`${exportedAttachmentsSql(sql.part`${attachments.list}, s.code`, selection, after)} limit ${limit}`,
    keyOf: ({ id }) => [id],
    toRecord: (row) => {
      const { state: _stored, ...record } = toAttachmentRecord(row);
      return { ...record, projectId: row.project_id };
    },
  }),
};

export interface ExportedFile {
  readonly id: string;
  readonly size: number;
  readonly sha256: string;
}

/** Returns the statement for the files of an export after a key. */
export const exportedFilesQuery = (selection: ArchiveSelection, after: ArchiveKey | null) =>
  sql<ExportedFile>`${exportedAttachmentsSql(sql.part`a.id, a.size, a.sha256`, selection, after)}
       limit ${sql.literal(pageSize)}`;
