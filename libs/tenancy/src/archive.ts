/**
 * The reading of records for an export. Each domain reads its own records, page by page, in the order of a key. An
 * export may therefore stop after each page, and continue there in another process.
 */
import { type Db, orgFilter, type Part, type Query, sql } from '@muster/driver';
import { type ArchiveRecord, type ArchiveRecordType, type ExportScope } from '@muster/contract';

/** The data that an export contains. */
export interface ArchiveSelection {
  readonly scope: ExportScope;
  /** The project of the scope `project`. */
  readonly projectId: string | null;
  /** The member who requested the export, whose data the scope `me` exports. */
  readonly memberId: string;
  /** Records that were created later are left out. */
  readonly startedAt: string;
}

/** The key of the last record that was read. */
export type ArchiveKey = readonly (string | number)[];

export interface ArchivePage {
  readonly lines: readonly object[];
  /** Null after the last page. */
  readonly nextKey: ArchiveKey | null;
}

/** Reads the page of records that follow the key `after`; the first page if it is null. */
export type ArchiveReader = (
  db: Db,
  selection: ArchiveSelection,
  after: ArchiveKey | null,
) => Promise<ArchivePage>;

/** The readers of a domain, by the type of their records. */
export type ArchiveReaders = Readonly<Partial<Record<ArchiveRecordType, ArchiveReader>>>;

interface ArchiveReaderDefinition<Row, Type extends ArchiveRecordType> {
  readonly type: Type;
  /** The number of records in a page. A page must fit into the memory of a worker several times. */
  readonly pageSize: number;
  /**
   * Returns the statement for up to `limit` rows after a key, in its order; null if the scope has no such records.
   */
  readonly select: (selection: ArchiveSelection, after: ArchiveKey | null, limit: Part) => Query<Row> | null;
  readonly keyOf: (row: Row) => ArchiveKey;
  readonly toRecord: (row: Row) => Omit<ArchiveRecord<Type>, 'type'>;
}

/** Creates the reader of a type of records. */
export const createArchiveReader =
  <Row, Type extends ArchiveRecordType>({
    type,
    pageSize,
    select,
    keyOf,
    toRecord,
  }: ArchiveReaderDefinition<Row, Type>): ArchiveReader =>
  async (db, selection, after) => {
    const query = select(selection, after, sql.literal(pageSize));
    if (query === null) return { lines: [], nextKey: null };
    const rows = await db.all(query);
    const last = rows.at(-1);
    return {
      lines: rows.map((row) => ({ type, ...toRecord(row) })),
      nextKey: last === undefined || rows.length < pageSize ? null : keyOf(last),
    };
  };

/** Returns SQL that is true for rows after the key. Both are lists of the same length. */
export const afterKeySql = (columns: Part, after: ArchiveKey | null, types: readonly Part[]): Part =>
  after === null
    ? sql.part`true`
    : sql.part`(${columns}) > (${sql.join(
        types.map((type, index) => sql.part`${after[index]}::${type}`),
        ', ',
      )})`;

/** The types of the columns of keys. */
export const keyTypes = {
  uuid: sql.part`uuid`,
  text: sql.part`text`,
  int: sql.part`int`,
  bigint: sql.part`bigint`,
};

/**
 * Returns SQL that is true for the projects `p` of an export: all, the one, or those that the member may see. Deleted
 * projects are hidden by row-level security.
 */
export function isExportedProjectSql({ scope, projectId, memberId }: ArchiveSelection): Part {
  if (scope === 'project') return sql.part`p.id = ${projectId}::uuid`;
  if (scope === 'org') return sql.part`true`;
  return sql.part`exists (select from members v where ${orgFilter('v')} and v.id = ${memberId}::uuid and v.status = 'active'
    and app.project_rank(p.org_id, p.id, p.visibility, v.id, v.role) is not null)`;
}

/** Returns SQL for the form of a time in records, for use in JSON. */
export const isoTimeSql = (time: Part): Part =>
  sql.part`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Returns SQL for the first id that a record of this time can have. Ids begin with their time. */
export const firstIdAtSql = (time: Part): Part =>
  sql.part`(lpad(to_hex((extract(epoch from ${time}) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid`;
