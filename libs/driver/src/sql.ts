/**
 * The template tag for SQL: sql`select … where s.id = ${id}`. An inserted value becomes a parameter, so it cannot change
 * the meaning of the statement. Only a nested part can change it, and parts consist of text from the source code alone.
 *
 * The text of a statement is built once for each shape: the call site and the parts that are nested in it. Later calls
 * only collect their values.
 */
import { type Insertable, type Updateable } from 'kysely';
import { type Statement } from './burst.ts';
import { type DB } from './schema.generated.ts';

/**
 * A placeholder for the id of the transaction's organization. A statement sends it as one parameter,
 * however often it occurs.
 */
export const organization = Symbol('organization');

declare const rowOf: unique symbol;

/** A piece of a statement that can be nested in others. */
export class Part {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];

  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }
}

/** A statement that can be sent or nested. Its author declares the type of its rows. */
export interface Query<Row> extends Part {
  readonly [rowOf]: Row;
}

/**
 * The text of a built statement, and the strings of its parts. The strings of the statement itself come
 * first.
 */
export interface BoundStatement {
  readonly text: string;
  readonly nested: readonly (readonly string[])[];
}

/**
 * A node in a tree of statement shapes. The path through the nested parts and the numbers of values leads
 * to the finished text.
 */
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
    // Most nodes have only one successor.
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

/** The shapes by the strings of the statement at the call site. */
const shapes = new Map<readonly string[], Shape>();

/** Yields every statement text that this process has built. Specs use it. */
export function* boundStatements(): Generator<BoundStatement> {
  for (const [strings, shape] of shapes) yield* shape.bound([strings]);
}

/** The step in the tree of shapes that stands for the organization. */
const organizationStep: readonly string[] = [];

/** Collects the values of a statement, and finds its shape in the same pass. */
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
    // A manual loop with the checks in this order is the fastest, and every statement passes through it.
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

/** Builds the text of a statement. Its parameters are numbered in the order of their values. */
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

/**
 * Returns the statement for a transaction of this organization; null if the transaction has no
 * organization.
 */
export function bind(part: Part, orgId: string | null): Statement {
  const collector = new Collector(orgId);
  let first = shapes.get(part.strings);
  if (first === undefined) shapes.set(part.strings, (first = new Shape()));
  const shape = collector.add(part.values, first);
  return { sql: (shape.text ??= textOf(part)), parameters: collector.parameters };
}

/**
 * The string lists of generated texts. Equal texts share one list, because shapes are found by the identity
 * of the list.
 */
const lists = new Map<string, readonly string[]>();

function listOf(key: string, make: () => readonly string[]): readonly string[] {
  let list = lists.get(key);
  if (list === undefined) lists.set(key, (list = make()));
  return list;
}

const nameForm = /^[a-z_][a-z0-9_]*$/;

/** Throws if the text is not the name of a table or column, so that no value of a caller becomes SQL. */
function checked(name: string): string {
  if (!nameForm.test(name)) throw new Error('the name of a table or a column was expected');
  return name;
}

/** Creates a part from text that was checked or comes from the source code. */
const words = (text: string): Part =>
  new Part(
    listOf(text, () => [text]),
    [],
  );

const empty = words('');
const defaultValue = words('default');

/** Creates a part from one word that the code chose: the name of a table or column, or `asc`. */
const word = (text: string): Part => words(checked(text));

/** Creates a list of columns with their alias: `s.id, s.title`. */
const columns = (alias: string, names: readonly string[]): Part =>
  words(names.map((name) => `${checked(alias)}.${checked(name)}`).join(', '));

/** Joins values or parts with the given separator. */
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

/** Builds `insert into table (…) values (…)` with the given columns of one or several rows. */
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

/** Builds `update table set …` with the given columns of a row. The caller appends the `where` clause. */
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

/**
 * A cache of generated SQL by the list of columns. The list is usually a constant, so that the cache finds
 * it again.
 */
const written = new WeakMap<readonly string[], { key: string; strings: readonly string[] }>();

function writing(what: string, names: readonly string[], make: () => readonly string[]): readonly string[] {
  const known = written.get(names);
  if (known?.key === what) return known.strings;
  const strings = listOf(`${what} ${names.join()}`, make);
  written.set(names, { key: what, strings });
  return strings;
}

/**
 * Writes an integer into the text of the statement. The planner can use its value, unlike that of a
 * parameter.
 */
function literal(number: number): Part {
  if (!Number.isSafeInteger(number)) throw new Error('a whole number was expected');
  return words(String(number));
}

const query = <Row>(strings: readonly string[], values: readonly unknown[]): Query<Row> =>
  new Part(strings, values) as Query<Row>;

/** Creates a statement. Its author declares the row type, and the specs compare it with the schema. */
const tag = <Row = unknown>(strings: TemplateStringsArray, ...values: unknown[]): Query<Row> =>
  query(strings, values);

const part = (strings: TemplateStringsArray, ...values: unknown[]): Part => new Part(strings, values);

export const sql = Object.assign(tag, { part, empty, word, columns, join, insert, update, literal });

const owned = new Map<string, Part>();

/** The condition that the row with this alias belongs to the organization: `s.org_id = $1`. */
export function of(alias = ''): Part {
  let part = owned.get(alias);
  if (part === undefined) {
    part = new Part([`${alias === '' ? '' : `${checked(alias)}.`}org_id = `, ''], [organization]);
    owned.set(alias, part);
  }
  return part;
}
