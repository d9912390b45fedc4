/**
 * A record is described once: its columns, which of them callers may set, what clears them, which are not shown. What is
 * read, shown, made, changed and written of it follows. A field of the contract is called as its column is, in the
 * contract's spelling: targetDate for target_date.
 */
import { refusal } from '@muster/registry';
import { type Selectable } from 'kysely';
import { isDeepStrictEqual } from 'node:util';
import { newId } from './id.ts';
import { portionsOf, sizeOf } from './portions.ts';
import { type DB } from './schema.generated.ts';
import { of, organization, type Part, type Query, sql } from './sql.ts';
import { type Db } from './transaction.ts';

/** The id of a record: a value, or the words for it in a statement. */
export type Id = string | Part;

/** The description of a column. */
interface Column<Value> {
  /** Callers may change it. */
  readonly set?: true;
  /** The value in a new record if none is given. Without this and `empty` a value is required. */
  readonly initial?: Value;
  /** The same; and null clears it to this. A text that is empty is shown as null: nothing was said. */
  readonly empty?: Value;
  /** Callers do not see it as a field of its own. */
  readonly hidden?: true;
  /** The database keeps it by itself. */
  readonly derived?: true;
}

/** The columns that every record has, and no description names. */
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

/** The columns whose description has this. */
type With<Columns, Trait> = {
  [Key in keyof Columns]: Columns[Key] extends Trait ? Key : never;
}[keyof Columns];
type Optional<Columns> = With<Columns, { initial: unknown } | { empty: unknown } | { derived: true }>;

/** A row in the contract's spelling, without what is hidden. */
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

/** A row as it is after a change, and which fields are others than before. */
interface Changed<Row> {
  readonly changed: Row;
  readonly fields: string[];
}

/** Throws where the version that the caller read is not the record's. */
export function requireVersion(
  { version }: { readonly version: number },
  expected: number | undefined,
): void {
  if (expected !== undefined && expected !== version)
    throw refusal('version_mismatch', { currentVersion: version });
}

/** The row after these changes: the next version, changed `at`. */
export const nextVersion = <Row extends { readonly version: number }>(
  row: Row,
  changes: Partial<Row>,
  at: string,
): Row => ({ ...row, ...changes, updated_at: at, version: row.version + 1 });

/** Makes the function that shows a row; compiled, since a loop over its fields would cost a long list a tenth more. */
const shower = (columns: readonly string[], texts: readonly string[] = []) =>
  // oxlint-disable-next-line typescript/no-implied-eval -- the names are columns, which sql.columns checked
  new Function(
    'row',
    `return { ${columns.map((column) => `${camel(column)}: row.${column}${texts.includes(column) ? ' || null' : ''}`).join()} }`,
  );

/** Columns of a table that are read, and shown in the contract's spelling but for the `hidden` ones. */
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

/** A column as it is described, and what the contract calls it. */
interface Described extends Column<unknown> {
  readonly column: string;
  readonly field: string;
}

const describedOf = (columns: Readonly<Record<string, Column<unknown>>>): readonly Described[] =>
  Object.entries(columns).map(([column, traits]) => ({ column, field: camel(column), ...traits }));

/** Returns the columns that are read, inserted, set by callers and shown to them, and the texts that may be empty. */
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

/** Returns the requested values that differ from the row, by column, and the names of their fields in the order of the request. */
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

/** Describes the records of a table, which statements call by the alias. */
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

  /** The row as a caller wants it, and which fields that changes; the row itself where none. */
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

  /** Writes what callers may set of a locked record, or these columns, as they are in the changed row. */
  const write = (row: Row, written: readonly string[] = settable): Query<unknown> =>
    sql`${sql.update(table, [...written, 'updated_at', 'version'] as never, row as never)} where ${of()} and id = ${row.id}`;

  return {
    /** The columns as a statement selects them. */
    list,
    shown,

    get: (db: Db, id: Id): Promise<Row> => db.get(sql<Row>`${byId}${id}`),

    /** Locks the record against other writers until the transaction ends; 409 where another version is expected. */
    async lock(db: Db, id: Id, expectedVersion?: number): Promise<Row> {
      const row = await db.get(sql<Row>`${byId}${id} for no key update`);
      requireVersion(row, expectedVersion);
      return row;
    },

    /** A new row. */
    make(draft: Draft<Row, Columns>, at: string): Row {
      return newRow(described, draft, at) as Row;
    },

    changed,

    /** Changes a locked record as a caller wants, and says which fields; where none changes it is as it was. */
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

    /** Many rows in few statements, each by one value. */
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
