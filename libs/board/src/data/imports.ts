/** The imports, and the items by which later imports recognize records. */
import {
  CursorId,
  type Db,
  type DB,
  decodeCursor,
  type IdOrSql,
  orgFilter,
  currentOrgId,
  pageOfRows,
  splitIntoPortions,
  type Query,
  defineRecord,
  type RowOf,
  sql,
} from '@muster/driver';
import { type Import, type ParamsOf, type Subject, subjectOf } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { type Selectable } from 'kysely';
import { z } from 'zod';

export const imports = defineRecord('imports', 'i', {
  project_id: {},
  provider: {},
  name: {},
  state: { initial: 'open' },
  begun_by: {},
  created: { initial: 0 },
  updated: { initial: 0 },
  unchanged: { initial: 0 },
  kept: { initial: 0 },
  refused: { initial: 0 },
  finished_at: { initial: null },
  reverted_at: { initial: null },
  into_empty_project: { initial: false, hidden: true },
});
export type ImportRow = RowOf<typeof imports>;

export function toImport(row: ImportRow): Import {
  const { created, updated, unchanged, kept, refused, ...shown } = imports.shown(row);
  return { ...shown, counts: { created, updated, unchanged, kept, refused } };
}

/** Returns the import as an event subject. */
export const toImportEventSubject = (row: ImportRow): Subject => subjectOf('import', row, row.name);

const Cursor = z.tuple([CursorId]);

/** Lists a page of a project's imports, newest first. */
export async function listImports(
  db: Db,
  projectId: IdOrSql,
  { limit, cursor }: ParamsOf<BoardRegistry['imports']['list']>,
): Promise<{ items: Import[]; nextCursor: string | null }> {
  const where = [orgFilter('i'), sql.part`i.project_id = ${projectId}`];
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`i.id < ${after[0]}::uuid`);
  const rows = await db.all(
    sql<ImportRow>`select ${imports.list} from imports i where ${sql.join(where, ' and ')}
       order by i.id desc limit ${limit + 1}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toImport);
}

export type ImportItemKind = Selectable<DB['import_items']>['kind'];

/** The state of an item noted at its last import. */
export type ImportItemRow = Pick<
  Selectable<DB['import_items']>,
  'kind' | 'external_id' | 'record_id' | 'source_hash' | 'record_version'
>;

/** Returns the key of an item, unique within its project and provider. */
export const importItemKey = (kind: ImportItemKind, externalId: string): string => `${kind} ${externalId}`;

/**
 * Makes Postgres plan each statement of this transaction for its parameters. A plan cached while the tables
 * were empty would scan the whole table for each name after an import has filled it.
 */
export const forceCustomPlans = (db: Db): Promise<unknown> =>
  db.all(sql`select set_config('plan_cache_mode', 'force_custom_plan', true)`);

/**
 * The number of names per statement. A put may have 100,000 comments, and each statement has a time limit.
 */
const rowsPerStatement = 2_000;

/**
 * Splits the names into portions and reads the rows of each portion with a separate statement, one after
 * another.
 */
export async function readInBatches<Name, Row>(
  names: readonly Name[],
  readBatch: (portion: readonly Name[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let start = 0; start < names.length; start += rowsPerStatement)
    for (const row of await readBatch(names.slice(start, start + rowsPerStatement))) rows.push(row);
  return rows;
}

/** Reads the notes of earlier imports about the items with these external IDs, by importItemKey. */
export async function findImportItems(
  db: Db,
  { project_id: projectId, provider }: ImportRow,
  externalIdsByKind: Readonly<Record<'story' | 'epic' | 'comment', readonly string[]>>,
): Promise<Map<string, ImportItemRow>> {
  const wanted = (['story', 'epic', 'comment'] as const).flatMap((kind) =>
    externalIdsByKind[kind].map((externalId) => ({ kind, externalId })),
  );
  const rows = await readInBatches(wanted, (portion) =>
    db.all(
      // With `lateral` and `limit 1` each name costs one index lookup, even before the table is analyzed.
      sql<ImportItemRow>`select i.*
       from unnest(${portion.map(({ kind }) => kind)}::text[], ${portion.map(({ externalId }) => externalId)}::text[]) w (kind, external_id)
       cross join lateral (select i.kind, i.external_id, i.record_id, i.source_hash, i.record_version
         from import_items i where ${orgFilter('i')} and i.project_id = ${projectId} and i.provider = ${provider}
           and i.kind = w.kind and i.external_id = w.external_id limit 1) i`,
    ),
  );
  return new Map(rows.map((row) => [importItemKey(row.kind, row.external_id), row]));
}

/** The state of an imported item, stored for the next import. */
export interface ImportedItem {
  readonly kind: ImportItemKind;
  readonly externalId: string;
  readonly recordId: string;
  /** True if the import created the record. */
  readonly isMade: boolean;
  readonly hash: Buffer;
  readonly version: number;
  readonly blockedBy: readonly string[];
  /** The external ID of the item that it is a part of. */
  readonly parent: string | null;
}

/**
 * Stores notes about items of this import. A note has the same time as the write of its record, so later
 * changes of the record are newer. `made_by` is null if no import created the record of the item.
 */
export const storeImportedItems = (
  importRow: ImportRow,
  items: readonly ImportedItem[],
  importedAt: string,
): Query<unknown>[] =>
  splitIntoPortions(
    items.map((item) => JSON.stringify({ ...item, hash: item.hash.toString('hex') })),
    (item) => item.length,
  ).map(
    (
      portion,
    ) => sql`insert into import_items (org_id, project_id, provider, kind, external_id, record_id, made_by, import_id, source_hash, record_version, blocked_by, parent, created_at, updated_at)
     select ${currentOrgId}, ${importRow.project_id}::uuid, ${importRow.provider}, n ->> 'kind', n ->> 'externalId', (n ->> 'recordId')::uuid,
       case when (n ->> 'isMade')::boolean then ${importRow.id}::uuid end, ${importRow.id}::uuid, decode(n ->> 'hash', 'hex'), (n ->> 'version')::int,
       array(select jsonb_array_elements_text(n -> 'blockedBy')), n ->> 'parent', ${importedAt}::timestamptz, ${importedAt}::timestamptz
     from jsonb_array_elements(${`[${portion.join()}]`}::jsonb) n
     on conflict (org_id, project_id, provider, kind, external_id) do update
       set record_id = excluded.record_id,
         made_by = case when excluded.made_by is null and excluded.record_id = import_items.record_id
           then import_items.made_by else excluded.made_by end,
         created_at = case when excluded.made_by is null then import_items.created_at else excluded.created_at end,
         import_id = excluded.import_id,
         source_hash = excluded.source_hash, record_version = excluded.record_version, blocked_by = excluded.blocked_by, parent = excluded.parent,
         updated_at = excluded.updated_at`,
  );
