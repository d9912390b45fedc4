/**
 * Functions that read, create, change and write the records of a table. They are derived from one description of the
 * table's columns. It says which columns callers may set, which value clears them, and which are hidden. The name of a
 * field in the contract is the name of its column in camel case: targetDate for target_date.
 */
import { refusal } from '@muster/contract';
import { type Selectable } from 'kysely';
import { isDeepStrictEqual } from 'node:util';
import { newId } from './id.ts';
import { splitIntoPortions, estimateBytes } from './portions.ts';
import { type DB } from './schema.generated.ts';
import { orgFilter, currentOrgId, type Part, type Query, sql } from './sql.ts';
import { type Db } from './transaction.ts';

/** The id of a record: a value, or an SQL expression for it. */
export type IdOrSql = string | Part;

/** The description of a column. */
interface ColumnTraits<Value> {
  /** True if callers may change the column. */
  readonly set?: true;
  /** The value in a new record if none is given. A column without `initial` and `emptyValue` requires a value. */
  readonly initial?: Value;
  /**
   * The value in a new record if none is given, and after a caller clears the column with null. An empty
   * text is shown as null.
   */
  readonly emptyValue?: Value;
  /** True if callers do not see the column as a field. */
  readonly hidden?: true;
  /** True if the database computes the column. */
  readonly derived?: true;
}

/** The columns that every record has. Descriptions do not contain them. */
const commonColumns = ['id', 'created_at', 'updated_at', 'version'] as const;
type CommonColumn = (typeof commonColumns)[number];
interface RowWithCommonColumns {
  readonly id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly version: number;
}

/** The tables of records. */
type RecordTable = {
  [Name in keyof DB]: Selectable<DB[Name]> extends RowWithCommonColumns ? Name : never;
}[keyof DB];

type TableRow<Name extends RecordTable> = Selectable<DB[Name]>;
type ColumnDescriptions<Name extends RecordTable> = {
  readonly [Key in Exclude<keyof TableRow<Name>, CommonColumn | 'org_id'>]?: ColumnTraits<
    TableRow<Name>[Key & keyof TableRow<Name>]
  >;
};

type CamelCase<Key> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Key;
const toCamelCase = (column: string): string =>
  column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

type SelectedRow<Name extends RecordTable, Columns> = RowWithCommonColumns &
  Pick<TableRow<Name>, keyof Columns & keyof TableRow<Name>>;

/** The columns whose description has the given trait. */
type ColumnsWithTrait<Columns, Trait> = {
  [Key in keyof Columns]: Columns[Key] extends Trait ? Key : never;
}[keyof Columns];
type OptionalColumns<Columns> = ColumnsWithTrait<
  Columns,
  { initial: unknown } | { emptyValue: unknown } | { derived: true }
>;

/** A row with the field names of the contract, without its hidden columns. */
type ContractFields<Row, Columns> = {
  [Key in Exclude<keyof Row, ColumnsWithTrait<Columns, { hidden: true }>> as CamelCase<Key>]:
    | Row[Key]
    | (Key extends ColumnsWithTrait<Columns, { emptyValue: '' }> ? null : never);
};

/** The fields that a new record is created from. */
type NewRecordFields<Row, Columns> = {
  readonly [Key in Exclude<keyof Columns, OptionalColumns<Columns>> as CamelCase<Key>]: Row[Key & keyof Row];
} & {
  readonly [Key in OptionalColumns<Columns> | 'id' as CamelCase<Key>]?:
    | Row[Key & keyof Row]
    | null
    | undefined;
};

/** The changes that a caller requests. Undefined changes nothing, and null clears the field. */
type RequestedChanges<Row, Columns> = {
  readonly [Key in ColumnsWithTrait<Columns, { set: true }> as CamelCase<Key>]?:
    | Row[Key & keyof Row]
    | (Columns[Key] extends { emptyValue: unknown } ? null : never)
    | undefined;
};

/** A row after a change, and the names of the fields that changed. */
interface ChangeResult<Row> {
  readonly changed: Row;
  readonly fields: string[];
}

/** Throws `version_mismatch` if the caller read another version of the record. */
export function requireVersion(
  { version }: { readonly version: number },
  expectedVersion: number | undefined,
): void {
  if (expectedVersion !== undefined && expectedVersion !== version)
    throw refusal('version_mismatch', { currentVersion: version });
}

/** Returns the row with these changes, the next version number, and `at` as the time of its last change. */
export const withNextVersion = <Row extends { readonly version: number }>(
  row: Row,
  changes: Partial<Row>,
  at: string,
): Row => ({ ...row, ...changes, updated_at: at, version: row.version + 1 });

/**
 * Builds the function that converts a row to its form in the contract. The function is generated, because a
 * loop over the fields makes long lists about 10 % slower.
 */
const compileRowMapper = (columns: readonly string[], emptyableTexts: readonly string[] = []) =>
  // oxlint-disable-next-line typescript/no-implied-eval -- the names are columns, which sql.columns checked
  new Function(
    'row',
    `return { ${columns.map((column) => `${toCamelCase(column)}: row.${column}${emptyableTexts.includes(column) ? ' || null' : ''}`).join()} }`,
  );

/**
 * Describes columns of a table that are read together. All but the `hidden` ones are shown with the field
 * names of the contract.
 */
export function defineView<
  Name extends keyof DB,
  const Seen extends keyof Selectable<DB[Name]> & string,
  const Hidden extends keyof Selectable<DB[Name]> & string = never,
>(_table: Name, alias: string, visibleColumns: readonly Seen[], hiddenColumns: readonly Hidden[] = []) {
  type Row = Pick<Selectable<DB[Name]>, Seen | Hidden>;
  const names = [...visibleColumns, ...hiddenColumns];
  return {
    names,
    /** The columns as a statement selects them. */
    list: sql.columns(alias, names),
    shown: compileRowMapper(visibleColumns) as (row: Row) => { [Key in Seen as CamelCase<Key>]: Row[Key] },
  };
}

/** The description of a column, with the name of its field in the contract. */
interface DescribedColumn extends ColumnTraits<unknown> {
  readonly column: string;
  readonly field: string;
}

const describeColumns = (
  columns: Readonly<Record<string, ColumnTraits<unknown>>>,
): readonly DescribedColumn[] =>
  Object.entries(columns).map(([column, traits]) => ({ column, field: toCamelCase(column), ...traits }));

/**
 * Returns separate lists: the columns that are read, those inserted, those that callers may set, those
 * shown to callers, and the text columns that may be empty.
 */
function columnListsOf(columns: readonly DescribedColumn[]) {
  const where = (is: (column: DescribedColumn) => boolean): string[] =>
    columns.filter(is).map(({ column }) => column);
  return {
    read: [...commonColumns, ...where(() => true)],
    inserted: [...commonColumns, ...where(({ derived }) => derived !== true)],
    settable: where(({ set, derived }) => set === true && derived !== true),
    seen: [...commonColumns, ...where(({ hidden }) => hidden !== true)],
    texts: where(({ emptyValue }) => emptyValue === ''),
  };
}

/**
 * Returns the requested values that differ from the row, by column, and the names of their fields in the
 * order of the request.
 */
function requestedChangesOf(
  columns: readonly DescribedColumn[],
  currentRow: Readonly<Record<string, unknown>>,
  requested: Readonly<Record<string, unknown>>,
): { readonly values: Readonly<Record<string, unknown>>; readonly fields: string[] } {
  const values: Record<string, unknown> = {};
  const fields: string[] = [];
  for (const name of Object.keys(requested)) {
    const column = columns.find(({ field, set }) => field === name && set === true);
    const value = requested[name] === null ? column?.emptyValue : requested[name];
    if (column === undefined || value === undefined) continue;
    if (isDeepStrictEqual(value, currentRow[column.column])) continue;
    values[column.column] = value;
    fields.push(name);
  }
  return { values, fields };
}

/** Returns the columns of a new record: the given fields, and the initial values of the others. */
function buildNewRow(
  columns: readonly DescribedColumn[],
  fields: Readonly<Record<string, unknown>>,
  at: string,
): Record<string, unknown> {
  const row: Record<string, unknown> = {
    id: fields['id'] ?? newId(),
    created_at: at,
    updated_at: at,
    version: 1,
  };
  for (const { column, field, initial, emptyValue } of columns)
    row[column] = fields[field] ?? initial ?? emptyValue ?? null;
  return row;
}

/** Describes the records of a table. Statements refer to the table by the alias. */
export function defineRecord<Name extends RecordTable, const Columns extends ColumnDescriptions<Name>>(
  table: Name,
  alias: string,
  columns: Columns,
) {
  type Row = SelectedRow<Name, Columns>;
  const described = describeColumns(columns as Readonly<Record<string, ColumnTraits<unknown>>>);
  const { read, inserted, settable, seen, texts } = columnListsOf(described);
  const list = sql.columns(alias, read);
  const as = sql.word(alias);
  const byId = sql.part`select ${list} from ${sql.word(table)} ${as} where ${orgFilter(alias)} and ${as}.id = `;
  const toContractFields = compileRowMapper(seen, texts) as (row: Row) => ContractFields<Row, Columns>;

  /**
   * Returns the row with the requested changes and the names of the changed fields. Returns the given row
   * if nothing changes.
   */
  const changed = <Locked extends Row>(
    row: Locked,
    wanted: RequestedChanges<Row, Columns>,
    at: string,
  ): ChangeResult<Locked> => {
    const now = row as Readonly<Record<string, unknown>>;
    const { values, fields } = requestedChangesOf(described, now, wanted);
    if (fields.length === 0) return { changed: row, fields };
    return { changed: withNextVersion<Locked>(row, values as Partial<Locked>, at), fields };
  };

  /**
   * Builds the statement that writes the given columns of a changed row; by default all columns that
   * callers may set.
   */
  const write = (row: Row, written: readonly string[] = settable): Query<unknown> =>
    sql`${sql.update(table, [...written, 'updated_at', 'version'] as never, row as never)} where ${orgFilter()} and id = ${row.id}`;

  return {
    /** The columns as a statement selects them. */
    list,
    shown: toContractFields,

    get: (db: Db, id: IdOrSql): Promise<Row> => db.get(sql<Row>`${byId}${id}`),

    /**
     * Locks the record against other writers until the transaction ends. Throws 409 if the caller expects
     * another version.
     */
    async lock(db: Db, id: IdOrSql, expectedVersion?: number): Promise<Row> {
      const row = await db.get(sql<Row>`${byId}${id} for no key update`);
      requireVersion(row, expectedVersion);
      return row;
    },

    /** Builds a new row object from a result's values. */
    make(draft: NewRecordFields<Row, Columns>, at: string): Row {
      return buildNewRow(described, draft, at) as Row;
    },

    changed,

    /**
     * Applies the requested changes to a locked record, and returns the names of the changed fields. Writes
     * nothing if no field changes. `derived` are values of other columns that follow from the changes.
     */
    change<Locked extends Row>(
      db: Db,
      row: Locked,
      wanted: RequestedChanges<Row, Columns>,
      at: string,
      derived: Partial<Row> = {},
    ): ChangeResult<Locked> {
      const change = changed({ ...row, ...derived }, wanted, at);
      if (change.fields.length > 0)
        db.deferToCommit(write(change.changed, [...settable, ...Object.keys(derived)]));
      return change;
    },

    /** Changes these columns of a locked record. */
    save<Locked extends Row>(db: Db, row: Locked, changes: Partial<Row>, at: string): Locked {
      const after = withNextVersion<Locked>(row, changes as Partial<Locked>, at);
      db.deferToCommit(write(after, Object.keys(changes)));
      return after;
    },

    insert: (rows: Row | readonly Row[]): Query<unknown> =>
      sql.insert(table, inserted as never, rows as never),

    /** Inserts many rows with few statements. Each statement receives its rows as one JSON value. */
    insertAll: (rows: readonly Row[]): Query<unknown>[] =>
      splitIntoPortions(
        rows.map((row) => JSON.stringify(row)),
        estimateBytes,
      ).map(
        (portion) => sql`insert into ${sql.word(table)} select r.* from jsonb_populate_recordset(
        jsonb_populate_record(null::${sql.word(table)}, jsonb_build_object('org_id', ${currentOrgId}::uuid)), ${`[${portion.join()}]`}) r`,
      ),

    write,
  };
}

/** The row of a record. */
export type RowOf<Described extends { readonly shown: (row: never) => unknown }> = Parameters<
  Described['shown']
>[0];
