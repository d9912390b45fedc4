/**
 * Functions that read, create, change and write the records of a table. They are derived from one description of the
 * table's columns. It says which columns callers may set, which value clears them, and which are hidden. The name of a
 * field in the contract is the name of its column in camel case: targetDate for target_date.
 */
import { refusal } from '@muster/registry';
import { type Selectable } from 'kysely';
import { isDeepStrictEqual } from 'node:util';
import { newId } from './id.ts';
import { portionsOf, sizeOf } from './portions.ts';
import { type DB } from './schema.generated.ts';
import { of, organization, type Part, type Query, sql } from './sql.ts';
import { type Db } from './transaction.ts';

/** The id of a record: a value, or an SQL expression for it. */
export type Id = string | Part;

/** The description of a column. */
interface Column<Value> {
  /** True if callers may change the column. */
  readonly set?: true;
  /** The value in a new record if none is given. A column without `initial` and `empty` requires a value. */
  readonly initial?: Value;
  /**
   * The value in a new record if none is given, and after a caller clears the column with null. An empty
   * text is shown as null.
   */
  readonly empty?: Value;
  /** True if callers do not see the column as a field. */
  readonly hidden?: true;
  /** True if the database computes the column. */
  readonly derived?: true;
}

/** The columns that every record has. Descriptions do not contain them. */
const stamps = ['id', 'created_at', 'updated_at', 'version'] as const;
type Stamp = (typeof stamps)[number];
interface Stamped {
  readonly id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly version: number;
}

/** The tables of records. */
type Table = {
  [Name in keyof DB]: Selectable<DB[Name]> extends Stamped ? Name : never;
}[keyof DB];

type Stored<Name extends Table> = Selectable<DB[Name]>;
type Description<Name extends Table> = {
  readonly [Key in Exclude<keyof Stored<Name>, Stamp | 'org_id'>]?: Column<
    Stored<Name>[Key & keyof Stored<Name>]
  >;
};

type Camel<Key> = Key extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Key;
const camel = (column: string): string =>
  column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

type Read<Name extends Table, Columns> = Stamped & Pick<Stored<Name>, keyof Columns & keyof Stored<Name>>;

/** The columns whose description has the given trait. */
type With<Columns, Trait> = {
  [Key in keyof Columns]: Columns[Key] extends Trait ? Key : never;
}[keyof Columns];
type Optional<Columns> = With<Columns, { initial: unknown } | { empty: unknown } | { derived: true }>;

/** A row with the field names of the contract, without its hidden columns. */
type Shown<Row, Columns> = {
  [Key in Exclude<keyof Row, With<Columns, { hidden: true }>> as Camel<Key>]:
    | Row[Key]
    | (Key extends With<Columns, { empty: '' }> ? null : never);
};

/** The fields that a new record is created from. */
type Draft<Row, Columns> = {
  readonly [Key in Exclude<keyof Columns, Optional<Columns>> as Camel<Key>]: Row[Key & keyof Row];
} & {
  readonly [Key in Optional<Columns> | 'id' as Camel<Key>]?: Row[Key & keyof Row] | null | undefined;
};

/** The changes that a caller requests. Undefined changes nothing, and null clears the field. */
type Wanted<Row, Columns> = {
  readonly [Key in With<Columns, { set: true }> as Camel<Key>]?:
    | Row[Key & keyof Row]
    | (Columns[Key] extends { empty: unknown } ? null : never)
    | undefined;
};

/** A row after a change, and the names of the fields that changed. */
interface Changed<Row> {
  readonly changed: Row;
  readonly fields: string[];
}

/** Throws `version_mismatch` if the caller read another version of the record. */
export function requireVersion(
  { version }: { readonly version: number },
  expected: number | undefined,
): void {
  if (expected !== undefined && expected !== version)
    throw refusal('version_mismatch', { currentVersion: version });
}

/** Returns the row with these changes, the next version number, and `at` as the time of its last change. */
export const nextVersion = <Row extends { readonly version: number }>(
  row: Row,
  changes: Partial<Row>,
  at: string,
): Row => ({ ...row, ...changes, updated_at: at, version: row.version + 1 });

/**
 * Builds the function that converts a row to its form in the contract. The function is generated, because a
 * loop over the fields makes long lists about 10 % slower.
 */
const shower = (columns: readonly string[], texts: readonly string[] = []) =>
  // oxlint-disable-next-line typescript/no-implied-eval -- the names are columns, which sql.columns checked
  new Function(
    'row',
    `return { ${columns.map((column) => `${camel(column)}: row.${column}${texts.includes(column) ? ' || null' : ''}`).join()} }`,
  );

/**
 * Describes columns of a table that are read together. All but the `hidden` ones are shown with the field
 * names of the contract.
 */
export function view<
  Name extends keyof DB,
  const Seen extends keyof Selectable<DB[Name]> & string,
  const Hidden extends keyof Selectable<DB[Name]> & string = never,
>(_table: Name, alias: string, seen: readonly Seen[], hidden: readonly Hidden[] = []) {
  type Row = Pick<Selectable<DB[Name]>, Seen | Hidden>;
  const names = [...seen, ...hidden];
  return {
    names,
    /** The columns as a statement selects them. */
    list: sql.columns(alias, names),
    shown: shower(seen) as (row: Row) => { [Key in Seen as Camel<Key>]: Row[Key] },
  };
}

/** The description of a column, with the name of its field in the contract. */
interface Described extends Column<unknown> {
  readonly column: string;
  readonly field: string;
}

const describedOf = (columns: Readonly<Record<string, Column<unknown>>>): readonly Described[] =>
  Object.entries(columns).map(([column, traits]) => ({ column, field: camel(column), ...traits }));

/**
 * Returns separate lists: the columns that are read, those inserted, those that callers may set, those
 * shown to callers, and the text columns that may be empty.
 */
function listsOf(described: readonly Described[]) {
  const where = (is: (column: Described) => boolean): string[] =>
    described.filter(is).map(({ column }) => column);
  return {
    read: [...stamps, ...where(() => true)],
    inserted: [...stamps, ...where(({ derived }) => derived !== true)],
    settable: where(({ set, derived }) => set === true && derived !== true),
    seen: [...stamps, ...where(({ hidden }) => hidden !== true)],
    texts: where(({ empty }) => empty === ''),
  };
}

/**
 * Returns the requested values that differ from the row, by column, and the names of their fields in the
 * order of the request.
 */
function changesOf(
  described: readonly Described[],
  now: Readonly<Record<string, unknown>>,
  said: Readonly<Record<string, unknown>>,
): { readonly values: Readonly<Record<string, unknown>>; readonly fields: string[] } {
  const values: Record<string, unknown> = {};
  const fields: string[] = [];
  for (const name of Object.keys(said)) {
    const column = described.find(({ field, set }) => field === name && set === true);
    const value = said[name] === null ? column?.empty : said[name];
    if (column === undefined || value === undefined) continue;
    if (isDeepStrictEqual(value, now[column.column])) continue;
    values[column.column] = value;
    fields.push(name);
  }
  return { values, fields };
}

/** Returns the columns of a new record: the given fields, and the initial values of the others. */
function newRow(
  described: readonly Described[],
  said: Readonly<Record<string, unknown>>,
  at: string,
): Record<string, unknown> {
  const row: Record<string, unknown> = {
    id: said['id'] ?? newId(),
    created_at: at,
    updated_at: at,
    version: 1,
  };
  for (const { column, field, initial, empty } of described)
    row[column] = said[field] ?? initial ?? empty ?? null;
  return row;
}

/** Describes the records of a table. Statements refer to the table by the alias. */
export function record<Name extends Table, const Columns extends Description<Name>>(
  table: Name,
  alias: string,
  columns: Columns,
) {
  type Row = Read<Name, Columns>;
  const described = describedOf(columns as Readonly<Record<string, Column<unknown>>>);
  const { read, inserted, settable, seen, texts } = listsOf(described);
  const list = sql.columns(alias, read);
  const as = sql.word(alias);
  const byId = sql.part`select ${list} from ${sql.word(table)} ${as} where ${of(alias)} and ${as}.id = `;
  const shown = shower(seen, texts) as (row: Row) => Shown<Row, Columns>;

  /**
   * Returns the row with the requested changes and the names of the changed fields. Returns the given row
   * if nothing changes.
   */
  const changed = <Locked extends Row>(
    row: Locked,
    wanted: Wanted<Row, Columns>,
    at: string,
  ): Changed<Locked> => {
    const now = row as Readonly<Record<string, unknown>>;
    const { values, fields } = changesOf(described, now, wanted);
    if (fields.length === 0) return { changed: row, fields };
    return { changed: nextVersion<Locked>(row, values as Partial<Locked>, at), fields };
  };

  /**
   * Builds the statement that writes the given columns of a changed row; by default all columns that
   * callers may set.
   */
  const write = (row: Row, written: readonly string[] = settable): Query<unknown> =>
    sql`${sql.update(table, [...written, 'updated_at', 'version'] as never, row as never)} where ${of()} and id = ${row.id}`;

  return {
    /** The columns as a statement selects them. */
    list,
    shown,

    get: (db: Db, id: Id): Promise<Row> => db.get(sql<Row>`${byId}${id}`),

    /**
     * Locks the record against other writers until the transaction ends. Throws 409 if the caller expects
     * another version.
     */
    async lock(db: Db, id: Id, expectedVersion?: number): Promise<Row> {
      const row = await db.get(sql<Row>`${byId}${id} for no key update`);
      requireVersion(row, expectedVersion);
      return row;
    },

    /** Returns a new row. */
    make(draft: Draft<Row, Columns>, at: string): Row {
      return newRow(described, draft, at) as Row;
    },

    changed,

    /**
     * Applies the requested changes to a locked record, and returns the names of the changed fields. Writes
     * nothing if no field changes.
     */
    change<Locked extends Row>(
      db: Db,
      row: Locked,
      wanted: Wanted<Row, Columns>,
      at: string,
    ): Changed<Locked> {
      const change = changed(row, wanted, at);
      if (change.fields.length > 0) db.later(write(change.changed));
      return change;
    },

    /** Changes these columns of a locked record. */
    save<Locked extends Row>(db: Db, row: Locked, changes: Partial<Row>, at: string): Locked {
      const after = nextVersion<Locked>(row, changes as Partial<Locked>, at);
      db.later(write(after, Object.keys(changes)));
      return after;
    },

    insert: (rows: Row | readonly Row[]): Query<unknown> =>
      sql.insert(table, inserted as never, rows as never),

    /** Inserts many rows with few statements. Each statement receives its rows as one JSON value. */
    insertAll: (rows: readonly Row[]): Query<unknown>[] =>
      portionsOf(
        rows.map((row) => JSON.stringify(row)),
        sizeOf,
      ).map(
        (portion) => sql`insert into ${sql.word(table)} select r.* from jsonb_populate_recordset(
        jsonb_populate_record(null::${sql.word(table)}, jsonb_build_object('org_id', ${organization}::uuid)), ${`[${portion.join()}]`}) r`,
      ),

    write,
  };
}

/** The row of a record. */
export type RowOf<Described extends { readonly shown: (row: never) => unknown }> = Parameters<
  Described['shown']
>[0];
