/** The tables of exports, of the parts of their archives, and of the files in them. */
import {
  CursorId,
  currentOrgId,
  type Db,
  decodeCursor,
  defineRecord,
  orgFilter,
  type Page,
  pageOfRows,
  type Part,
  type Query,
  type RowOf,
  sql,
} from '@muster/driver';
import {
  type DataExport,
  exportRetentionDays,
  leadRank,
  maxKeptExports,
  type ParamsOf,
  scopeCovers,
} from '@muster/contract';
import { type AttachmentsRegistry } from '@muster/attachments-registry';
import { type Caller, projectsVisibleTo } from '@muster/runtime';
import { projectIdSql } from '@muster/tenancy';
import { z } from 'zod';
import { signedExportPath } from '../rules/addresses.ts';
import { type DownloadSigning } from './attachments.ts';

export const dataExports = defineRecord('exports', 'x', {
  scope: {},
  project_id: { initial: null },
  member_id: { hidden: true },
  requested_by: {},
  state: { initial: 'queued' },
  failure: { initial: null },
  started_at: { hidden: true },
  finished_at: { initial: null },
  expires_at: { initial: null },
  position: { hidden: true, initial: null },
  attempts: { hidden: true, initial: 0 },
  progress: { initial: 0 },
  records: { initial: 0 },
  size: { initial: 0 },
});
export type ExportRow = RowOf<typeof dataExports>;

export function toExport(row: ExportRow, { baseUrl, orgId, organizationKey }: DownloadSigning): DataExport {
  const isReady = row.state === 'done' && row.expires_at !== null;
  return {
    ...dataExports.shown(row),
    downloadUrl: isReady
      ? baseUrl +
        signedExportPath(organizationKey, {
          ...{ orgId, exportId: row.id },
          expiresAtMillis: Date.parse(row.expires_at ?? ''),
        })
      : null,
  };
}

/** Returns the condition that export `x` is of the same organization, project or person. */
const isSameScopeSql = ({ scope, project_id: projectId, member_id: memberId }: ExportRow): Part =>
  sql.part`${orgFilter('x')} and x.scope = ${scope} and x.project_id is not distinct from ${projectId}::uuid
    and ${scope === 'me' ? sql.part`x.member_id = ${memberId}::uuid` : sql.part`true`}`;

/** Inserts the export. Returns the unfinished one of the same scope instead if there is one. */
export async function insertOrFindUnfinished(db: Db, row: ExportRow): Promise<ExportRow> {
  const inserted = await db.find(
    sql<{
      id: string;
    }>`insert into exports (org_id, id, scope, project_id, member_id, requested_by, started_at, created_at, updated_at)
      values (${currentOrgId}, ${row.id}, ${row.scope}, ${row.project_id}, ${row.member_id}, ${row.requested_by},
        ${row.started_at}, ${row.created_at}, ${row.updated_at})
      on conflict do nothing returning id`,
  );
  if (inserted !== undefined) return row;
  return db.get(
    sql<ExportRow>`select ${dataExports.list} from exports x
      where ${isSameScopeSql(row)} and x.state in ('queued', 'running')`,
  );
}

/** Deletes the oldest archives of the same scope, so that the new export is the last one that is kept. */
export const deleteOldestExportInScope = (row: ExportRow): Query<unknown> =>
  sql`delete from exports where ${orgFilter()} and id in (select x.id from exports x
    where ${isSameScopeSql(row)} and x.id <> ${row.id} order by x.id desc offset ${sql.literal(maxKeptExports - 1)})`;

/** Returns the condition that the caller may download export `x`. Tokens bound to projects see only their projects. */
function visibleExportCondition(caller: Caller): Part {
  const ofProject = sql.part`x.project_id in (select v.project_id from ${projectsVisibleTo(caller)} v
    where v.project_rank >= ${sql.literal(leadRank)})`;
  if (caller.projectIds !== null) return ofProject;
  const isAdmin = scopeCovers(caller.scopes, 'admin')
    ? sql.part`exists (select from members m where ${orgFilter('m')} and m.id = ${caller.memberId}::uuid and m.role in ('owner', 'admin'))`
    : sql.part`false`;
  return sql.part`(${ofProject} or (x.scope = 'me' and x.member_id = ${caller.memberId}::uuid)
    or (x.scope = 'org' and ${isAdmin}))`;
}

/** Reads an export that the caller may see. Throws 404 for any other. */
export const getExport = (db: Db, caller: Caller, id: string): Promise<ExportRow> =>
  db.get(
    sql<ExportRow>`select ${dataExports.list} from exports x
      where ${orgFilter('x')} and x.id = ${id}::uuid and ${visibleExportCondition(caller)}`,
  );

const Cursor = z.tuple([CursorId]);

/** Lists the exports that the caller may see, newest first. `signing` is read with them. */
export async function listExports(
  db: Db,
  caller: Caller,
  { scope, projectId, limit, cursor }: ParamsOf<AttachmentsRegistry['exports']['list']>,
  signing: () => Promise<DownloadSigning>,
): Promise<Page<DataExport>> {
  const where = [orgFilter('x'), visibleExportCondition(caller)];
  if (scope !== undefined) where.push(sql.part`x.scope = ${scope}`);
  if (projectId !== undefined) where.push(sql.part`x.project_id = ${projectIdSql(projectId)}`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`x.id < ${after[0]}::uuid`);
  const [rows, signed] = await Promise.all([
    db.all(
      sql<ExportRow>`select ${dataExports.list} from exports x where ${sql.join(where, ' and ')}
        order by x.id desc limit ${limit + 1}`,
    ),
    signing(),
  ]);
  return pageOfRows(
    rows,
    limit,
    (row) => [row.id],
    (row) => toExport(row, signed),
  );
}

/** Locks an export for a run of the job. */
export const lockExport = (db: Db, id: string): Promise<ExportRow | undefined> =>
  db.find(
    sql<ExportRow>`select ${dataExports.list} from exports x where ${orgFilter('x')} and x.id = ${id} for no key update`,
  );

/** Makes this run of the job the only one that may write. Deletes the part that an earlier run did not finish. */
export const beginRunQueries = (id: string, writer: string): Query<unknown>[] => [
  sql`update exports set state = 'running', writer = ${writer}, attempts = attempts + 1, updated_at = now()
    where ${orgFilter()} and id = ${id}`,
  sql`delete from export_parts where ${orgFilter()} and export_id = ${id} and size is null`,
];

/** Marks an export as failed. Its parts are deleted, because no one can download them. */
export const failExportQueries = (
  id: string,
  failure: NonNullable<DataExport['failure']>,
): Query<unknown>[] => [
  sql`update exports set state = 'failed', failure = ${failure}, finished_at = now(), writer = null, position = null,
      updated_at = now(), version = version + 1
    where ${orgFilter()} and id = ${id} and state in ('queued', 'running')`,
  sql`delete from export_parts p where ${orgFilter('p')} and p.export_id = ${id}
    and exists (select from exports x where ${orgFilter('x')} and x.id = ${id} and x.state = 'failed')`,
];

/** The run of the job that writes an export. */
export interface ExportWriter {
  readonly exportId: string;
  readonly writer: string;
}

const isWriterSql = ({ exportId, writer }: ExportWriter): Part =>
  sql.part`${orgFilter('x')} and x.id = ${exportId} and x.writer = ${writer}`;

/** Records a part before its file is stored. Returns false if another run replaced this one. */
export const insertPendingPart = async (
  db: Db,
  run: ExportWriter,
  part: { readonly id: string; readonly position: number },
): Promise<boolean> =>
  (await db.find(
    sql<{ id: string }>`insert into export_parts (org_id, export_id, id, position)
      select x.org_id, x.id, ${part.id}::uuid, ${part.position}::int from exports x where ${isWriterSql(run)} returning id`,
  )) !== undefined;

/** A file that is complete in the archive. A file without a digest could not be read. */
export interface ArchivedFile {
  readonly name: string;
  readonly position: number;
  readonly size: number;
  readonly sha256: string | null;
  readonly records: number;
}

/** The result of a part, which is written when its file is stored. */
export interface StoredPart {
  readonly id: string;
  readonly size: number;
  readonly files: readonly ArchivedFile[];
  readonly records: number;
  readonly progress: number;
  /** The position at which the next part continues; null after the last one. */
  readonly position: Record<string, unknown> | null;
}

/** Adds a stored part to the archive. Returns false if another run replaced this one. */
export async function addStoredPart(db: Db, run: ExportWriter, part: StoredPart): Promise<boolean> {
  const isLast = part.position === null;
  const updated = await db.find(
    sql<{
      id: string;
    }>`update exports x set position = ${part.position === null ? null : JSON.stringify(part.position)}::jsonb,
        attempts = 0, progress = ${part.progress}, records = x.records + ${part.records}, size = x.size + ${part.size},
        updated_at = now(), state = ${isLast ? 'done' : 'running'},
        finished_at = case when ${isLast}::boolean then now() end,
        expires_at = case when ${isLast}::boolean then now() + make_interval(days => ${sql.literal(exportRetentionDays)}) end,
        version = x.version + case when ${isLast}::boolean then 1 else 0 end
      where ${isWriterSql(run)} returning x.id`,
  );
  if (updated === undefined) return false;
  db.deferToCommit(sql`update export_parts set size = ${part.size} where ${orgFilter()} and id = ${part.id}`);
  if (part.files.length > 0)
    db.deferToCommit(
      sql`insert into export_files (org_id, export_id, name, position, size, sha256, records)
        select ${currentOrgId}, ${run.exportId}::uuid, f.* from unnest(
          ${part.files.map(({ name }) => name)}::text[], ${part.files.map(({ position }) => position)}::int[],
          ${part.files.map(({ size }) => size)}::bigint[], ${part.files.map(({ sha256 }) => sha256)}::text[],
          ${part.files.map(({ records }) => records)}::int[]) f`,
    );
  return true;
}

/** Lists the ids of stored parts in the order of the archive, within a range of positions. */
export const listParts = async (
  db: Db,
  exportId: string,
  { from, beforePosition: before }: { readonly from: number; readonly beforePosition?: number },
): Promise<string[]> => {
  const limit = before === undefined ? sql.empty : sql.part`and p.position < ${before}`;
  const rows = await db.all(
    sql<{ id: string }>`select p.id from export_parts p where ${orgFilter('p')} and p.export_id = ${exportId}
      and p.size is not null and p.position >= ${from} ${limit} order by p.position`,
  );
  return rows.map(({ id }) => id);
};

/** Lists the files of an archive in its order. */
export const listArchivedFiles = (db: Db, exportId: string): Promise<ArchivedFile[]> =>
  db.all(
    sql<ArchivedFile>`select f.name, f.position, f.size, f.sha256, f.records from export_files f
      where ${orgFilter('f')} and f.export_id = ${exportId} order by f.position, f.name`,
  );

/** The names that a manifest states. */
export interface ManifestNames {
  readonly organization: { id: string; name: string; slug: string };
  readonly project: { id: string; key: string; name: string } | null;
}

export const getManifestNames = (db: Db, projectId: string | null): Promise<ManifestNames> =>
  db.get(
    sql<ManifestNames>`select jsonb_build_object('id', o.id, 'name', o.name, 'slug', o.slug) as organization,
      (select jsonb_build_object('id', p.id, 'key', p.key, 'name', p.name) from projects p
        where ${orgFilter('p')} and p.id = ${projectId}::uuid) as project
      from orgs o where o.id = ${currentOrgId}`,
  );

/** An archive as its download needs it. */
export interface DownloadableExport {
  readonly organizationKey: Buffer;
  readonly now: string;
  readonly size: number;
  readonly fileName: string;
}

/** Finds an archive without a token. It must be complete, and its requester still a member. */
export const findDownloadableExport = (db: Db, exportId: string): Promise<DownloadableExport | undefined> =>
  db.find(
    sql<DownloadableExport>`select t.cursor_key as "organizationKey", now() as now, x.size,
        'muster-' || o.slug || case x.scope when 'project' then '-' || lower(p.key) when 'me' then '-' || m.handle else '' end
          || '-' || to_char(x.finished_at at time zone 'UTC', 'YYYY-MM-DD') || '.tar.gz' as "fileName"
      from exports x join streams t on t.org_id = x.org_id
      join orgs o on o.id = x.org_id and o.deleted_at is null
      join members m on ${orgFilter('m')} and m.id = x.member_id and m.status = 'active'
      left join projects p on ${orgFilter('p')} and p.id = x.project_id
      where ${orgFilter('x')} and x.id = ${exportId} and x.state = 'done' and x.expires_at > now()
        and (x.project_id is null or p.id is not null)
        and (x.scope = 'me' or m.role in ('owner', 'admin') or x.scope = 'project'
          and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) >= ${sql.literal(leadRank)})`,
  );
