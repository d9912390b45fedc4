/** Reads a file for the check of its signed address, and changes it from pending to stored. */
import { type Db, orgFilter, type Pool, sql } from '@muster/driver';
import { type TestReport } from '@muster/contract';
import { inOrganizationAsSystem } from '@muster/tenancy';
import { attachments, type AttachmentRow } from './attachments.ts';

export interface FileAtAddress extends AttachmentRow {
  readonly organization_key: Buffer;
  readonly now: string;
  readonly is_archived: boolean;
}

/** Finds an attachment without a token. Row-level security hides deleted projects. */
export const findFile = (
  pool: Pool,
  orgId: string,
  attachmentId: string,
): Promise<FileAtAddress | undefined> =>
  inOrganizationAsSystem(pool, orgId, (db) =>
    db.find(
      sql<FileAtAddress>`select ${attachments.list}, t.cursor_key as organization_key, now() as now,
           p.archived_at is not null as is_archived
         from attachments a join streams t on t.org_id = a.org_id
         join orgs o on o.id = a.org_id and o.deleted_at is null
         join projects p on p.org_id = a.org_id and p.id = a.project_id
         where ${orgFilter('a')} and a.id = ${attachmentId}`,
    ),
  );

/** Returns the state of a locked attachment; undefined if it was deleted. */
export const lockAttachmentState = async (db: Db, id: string): Promise<AttachmentRow['state'] | undefined> =>
  (
    await db.find(
      sql<
        Pick<AttachmentRow, 'state'>
      >`select a.state from attachments a where ${orgFilter('a')} and a.id = ${id} for update`,
    )
  )?.state;

export const markStored = (id: string, report: TestReport | null) =>
  sql`update attachments set state = 'stored', report = ${report === null ? null : JSON.stringify(report)}::jsonb,
    updated_at = now() where ${orgFilter()} and id = ${id}`;
