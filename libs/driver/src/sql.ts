/**
 * SQL as it is written in the code: sql`select … where s.id = ${id}`. A value becomes a parameter, and so cannot change
 * what a statement says; what can are parts, which are made here and from the code's own words alone.
 *
 * The text is put together once for each shape (the call site, and the parts that are nested in it), so that a call
 * costs no more than collecting its values.
 */
import { type Insertable, type Updateable } from 'kysely';
import { type Statement } from './burst.ts';
import { type DB } from './schema.generated.ts';

/** Stands for the organization of the transaction that the statement is sent in; one parameter, however often. */
export const organization = Symbol('organization');

declare const rowOf: unique symbol;

/** A piece of a statement, to be nested in others. */
export class Part {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];

  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }
}

/** A statement that can be sent, or nested; its author says what its rows are. */
export interface Query<Row> extends Part {
  readonly [rowOf]: Row;
}

/** A text that was put together here, and the words of the parts that it was made of, the statement's own first. */
export interface BoundStatement {
  readonly text: string;
  readonly nested: readonly (readonly string[])[];
}

/** A node in a tree of statement shapes: the parts and the numbers of values that follow lead to the finished text. */
class Shape {
  text: string | null = null;
  private strings: readonly string[] | undefined;
  private count = 0;
  private next: Shape | undefined;
  private readonly others = new Map<readonly string[], Map<number, Shape>>();

  /** Yields the statements that were bound with this shape, with the strings of their nested parts. */
  *bound(nested: readonly (readonly string[])[]): Generator<BoundStatement> {
    if (this.text !== null) yield { text: this.text, nested };
    if (this.next !== undefined) yield* this.next.bound([...nested, this.strings ?? []]);
    for (const [strings, byCount] of this.others)
      for (const shape of byCount.values()) yield* shape.bound([...nested, strings]);
  }

  after(strings: readonly string[], count: number): Shape {
    // Most are followed by one part only.
    if (this.strings === strings && this.count === count && this.next !== undefined) return this.next;
    if (this.next === undefined) {
      [this.strings, this.count] = [strings, count];
      return (this.next = new Shape());
    }
    let byCount = this.others.get(strings);
    if (byCount === undefined) this.others.set(strings, (byCount = new Map<number, Shape>()));
    let next = byCount.get(count);
    if (next === undefined) byCount.set(count, (next = new Shape()));
    return next;
  }
}

/** By the first words of a statement. */
const shapes = new Map<readonly string[], Shape>();

/** Every text that was bound in this process, for specs. */
export function* boundStatements(): Generator<BoundStatement> {
  for (const [strings, shape] of shapes) yield* shape.bound([strings]);
}

/** Stands among the steps for the organization. */
const organizationStep: readonly string[] = [];

/** Collects a statement's values, and finds its shape meanwhile. */
class Collector {
  readonly parameters: unknown[] = [];
  private readonly orgId: string | null;
  private isOrganizationThere = false;

  constructor(orgId: string | null) {
    this.orgId = orgId;
  }

  add(values: readonly unknown[], before: Shape): Shape {
    const { parameters } = this;
    let shape = before;
    // Counted by hand, and asked in this order: each statement comes through here.
    for (let index = 0; index < values.length; index += 1) {
      const value = values[index];
      if (value === organization) {
        shape = shape.after(organizationStep, parameters.length);
        this.addOrganization();
      } else if (typeof value === 'object' && value instanceof Part)
        shape = this.add(value.values, shape.after(value.strings, parameters.length));
      else parameters.push(value);
    }
    return shape;
  }

  private addOrganization(): void {
    if (this.isOrganizationThere) return;
    if (this.orgId === null)
      throw new Error('a statement names the organization of its transaction, which is in none');
    this.isOrganizationThere = true;
    this.parameters.push(this.orgId);
  }
}

/** The statement's text, with its parameters numbered in the order of their values. */
function textOf(part: Part): string {
  let count = 0;
  let organizationAt = 0;
  const place = (value: unknown): string => {
    if (value instanceof Part) return write(value);
    if (value !== organization) return `$${(count += 1)}`;
    if (organizationAt === 0) organizationAt = count += 1;
    return `$${organizationAt}`;
  };
  const write = ({ strings, values }: Part): string =>
    strings.reduce((text, piece, index) => text + place(values[index - 1]) + piece);
  return write(part);
}

/** The statement as it is sent in a transaction of this organization; null where that is in none. */
export function bind(part: Part, orgId: string | null): Statement {
  const collector = new Collector(orgId);
  let first = shapes.get(part.strings);
  if (first === undefined) shapes.set(part.strings, (first = new Shape()));
  const shape = collector.add(part.values, first);
  return { sql: (shape.text ??= textOf(part)), parameters: collector.parameters };
}

/** Texts that were put together in the code: one list for those that read the same, since shapes go by the list. */
const lists = new Map<string, readonly string[]>();

function listOf(key: string, make: () => readonly string[]): readonly string[] {
  let list = lists.get(key);
  if (list === undefined) lists.set(key, (list = make()));
  return list;
}

const nameForm = /^[a-z_][a-z0-9_]*$/;

/** Throws where a name of a table or a column is none: a value of a caller must not become one. */
function checked(name: string): string {
  if (!nameForm.test(name)) throw new Error('the name of a table or a column was expected');
  return name;
}

/** Words that were checked, or never came from outside. */
const words = (text: string): Part =>
  new Part(
    listOf(text, () => [text]),
    [],
  );

const empty = words('');
const defaultValue = words('default');

/** A word where the code chooses which: the name of a table or a column, `asc`. */
const word = (text: string): Part => words(checked(text));

/** `s.id, s.title`. */
const columns = (alias: string, names: readonly string[]): Part =>
  words(names.map((name) => `${checked(alias)}.${checked(name)}`).join(', '));

/** Values or parts, one after the other, with these words between them. */
function join(
  values: readonly unknown[],
  between: ', ' | ' ' | ' and ' | ' or ' | ' union all ' = ', ',
): Part {
  if (values.length === 0) return empty;
  const strings = listOf(`${values.length}${between}`, () => [
    '',
    ...Array.from({ length: values.length - 1 }, () => between),
    '',
  ]);
  return new Part(strings, values);
}

/** The columns that a caller writes. The organization comes from the transaction. */
type Written<Row> = Omit<Row, 'org_id'>;
type NewRow<Table extends keyof DB> = Written<Insertable<DB[Table]>>;
type Changes<Table extends keyof DB> = Written<Updateable<DB[Table]>>;

type ColumnsOf<Row> = readonly (keyof Row & string)[];

const valueOf = (row: object, column: string): unknown => {
  const value: unknown = row[column as keyof typeof row];
  return value === undefined ? defaultValue : value;
};

/** `insert into table (…) values (…)` of these columns of a row, or of several. */
function insert<Table extends keyof DB>(
  table: Table,
  names: ColumnsOf<NewRow<Table>>,
  rows: NewRow<Table> | readonly NewRow<Table>[],
): Query<unknown> {
  const list: readonly NewRow<Table>[] = Array.isArray(rows) ? rows : [rows];
  const strings = writing(`insert ${list.length} ${table}`, names, () => {
    const inRow = [...names.map(() => ', '), '), ('];
    return [
      `insert into ${checked(table)} (${['org_id', ...names.map(checked)].join(', ')}) values (`,
      ...list.flatMap(() => inRow).slice(0, -1),
      ')',
    ];
  });
  const values: unknown[] = [];
  for (const row of list) {
    values.push(organization);
    for (const name of names) values.push(valueOf(row, name));
  }
  return query(strings, values);
}

/** `update table set …` with these columns of a row; what follows says of which rows. */
function update<Table extends keyof DB>(
  table: Table,
  names: ColumnsOf<Changes<Table>>,
  row: Changes<Table>,
): Part {
  const strings = writing(`update ${table}`, names, () => [
    ...names.map(
      (name, index) => `${index === 0 ? `update ${checked(table)} set ` : ', '}${checked(name)} = `,
    ),
    '',
  ]);
  return new Part(
    strings,
    names.map((name) => valueOf(row, name)),
  );
}

/** Caches the SQL of a list of columns, which usually is a constant. */
const written = new WeakMap<readonly string[], { key: string; strings: readonly string[] }>();

function writing(what: string, names: readonly string[], make: () => readonly string[]): readonly string[] {
  const known = written.get(names);
  if (known?.key === what) return known.strings;
  const strings = listOf(`${what} ${names.join()}`, make);
  written.set(names, { key: what, strings });
  return strings;
}

/** A whole number as it is written: for the planner, which knows nothing of a parameter. */
function literal(number: number): Part {
  if (!Number.isSafeInteger(number)) throw new Error('a whole number was expected');
  return words(String(number));
}

const query = <Row>(strings: readonly string[], values: readonly unknown[]): Query<Row> =>
  new Part(strings, values) as Query<Row>;

/** A statement. Its row type is what its author says; the specs compare it with the schema. */
const tag = <Row = unknown>(strings: TemplateStringsArray, ...values: unknown[]): Query<Row> =>
  query(strings, values);

const part = (strings: TemplateStringsArray, ...values: unknown[]): Part => new Part(strings, values);

export const sql = Object.assign(tag, { part, empty, word, columns, join, insert, update, literal });

const owned = new Map<string, Part>();

/** The condition that a row, by this alias, is the organization's: `s.org_id = $1`. */
export function of(alias = ''): Part {
  let part = owned.get(alias);
  if (part === undefined) {
    part = new Part([`${alias === '' ? '' : `${checked(alias)}.`}org_id = `, ''], [organization]);
    owned.set(alias, part);
  }
  return part;
}
