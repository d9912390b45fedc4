/**
 * The template tag for SQL: sql`select … where s.id = ${id}`. An inserted value becomes a parameter, so it cannot change
 * the meaning of the statement. Only a nested part can change it, and parts consist of text from the source code alone.
 *
 * The text of a statement is built once for each shape. A shape consists of the template literal at the call site and
 * those of the nested parts. Later calls with the same shape only collect their values.
 */
import { type Insertable, type Updateable } from 'kysely';
import { type DB } from './schema.generated.ts';

/**
 * A placeholder for the id of the transaction's organization. A statement sends it as one parameter,
 * however often it occurs.
 */
export const currentOrgId = Symbol('organization');

declare const rowType: unique symbol;

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
  readonly [rowType]: Row;
}

/** A statement as it is sent. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

export interface BoundStatement {
  /** The complete SQL text. */
  readonly text: string;
  /**
   * The string arrays of the template literals from which the text was built: first that of the statement
   * itself, then those of its nested parts.
   */
  readonly partStrings: readonly (readonly string[])[];
}

/**
 * A node in a tree of statement shapes. The path through the nested parts and the numbers of values leads
 * to the finished text.
 */
class StatementShape {
  text: string | null = null;
  private strings: readonly string[] | undefined;
  private count = 0;
  private next: StatementShape | undefined;
  private readonly others = new Map<readonly string[], Map<number, StatementShape>>();

  /**
   * Yields each statement that was built with this shape or a longer one. `nested` has the template string
   * arrays on the path to this node.
   */
  *bound(nested: readonly (readonly string[])[]): Generator<BoundStatement> {
    if (this.text !== null) yield { text: this.text, partStrings: nested };
    if (this.next !== undefined) yield* this.next.bound([...nested, this.strings ?? []]);
    for (const [strings, byCount] of this.others)
      for (const shape of byCount.values()) yield* shape.bound([...nested, strings]);
  }

  after(strings: readonly string[], count: number): StatementShape {
    // Most nodes have only one successor.
    if (this.strings === strings && this.count === count && this.next !== undefined) return this.next;
    if (this.next === undefined) {
      [this.strings, this.count] = [strings, count];
      return (this.next = new StatementShape());
    }
    let byCount = this.others.get(strings);
    if (byCount === undefined) this.others.set(strings, (byCount = new Map<number, StatementShape>()));
    let next = byCount.get(count);
    if (next === undefined) byCount.set(count, (next = new StatementShape()));
    return next;
  }
}

/** The shapes by the template string array of the statement at the call site. */
const statementShapes = new Map<readonly string[], StatementShape>();

/** Yields every statement text that this process has built. Specs use it. */
export function* boundStatements(): Generator<BoundStatement> {
  for (const [strings, shape] of statementShapes) yield* shape.bound([strings]);
}

/** The key under which the tree of statement shapes stores a reference to the current organization's id. */
const organizationShapeKey: readonly string[] = [];

/** Collects the values of a statement, and finds its shape in the same pass. */
class ValueCollector {
  readonly parameters: unknown[] = [];
  private readonly orgId: string | null;
  private isOrganizationThere = false;

  constructor(orgId: string | null) {
    this.orgId = orgId;
  }

  add(values: readonly unknown[], before: StatementShape): StatementShape {
    const { parameters } = this;
    let shape = before;
    // A manual loop with the checks in this order is the fastest, and every statement passes through it.
    for (let index = 0; index < values.length; index += 1) {
      const value = values[index];
      if (value === currentOrgId) {
        shape = shape.after(organizationShapeKey, parameters.length);
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
      throw new Error('a statement refers to the organization of its transaction, which has no organization');
    this.isOrganizationThere = true;
    this.parameters.push(this.orgId);
  }
}

/** Builds the text of a statement. Its parameters are numbered in the order of their values. */
function buildSqlText(part: Part): string {
  let count = 0;
  let organizationAt = 0;
  const place = (value: unknown): string => {
    if (value instanceof Part) return write(value);
    if (value !== currentOrgId) return `$${(count += 1)}`;
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
export function bindStatement(part: Part, orgId: string | null): Statement {
  const collector = new ValueCollector(orgId);
  let first = statementShapes.get(part.strings);
  if (first === undefined) statementShapes.set(part.strings, (first = new StatementShape()));
  const shape = collector.add(part.values, first);
  return { sql: (shape.text ??= buildSqlText(part)), parameters: collector.parameters };
}

/**
 * The lists of constant SQL parts of the generated statements. Equal statements share one list, because the
 * shape of a statement is looked up by the identity of its list.
 */
const stringLists = new Map<string, readonly string[]>();

function cachedStrings(key: string, build: () => readonly string[]): readonly string[] {
  let list = stringLists.get(key);
  if (list === undefined) stringLists.set(key, (list = build()));
  return list;
}

const identifierPattern = /^[a-z_][a-z0-9_]*$/;

/** Throws if the text is not the name of a table or column, so that no value of a caller becomes SQL. */
function requireIdentifier(name: string): string {
  if (!identifierPattern.test(name)) throw new Error('the name of a table or a column was expected');
  return name;
}

/** Creates a part from text that was checked or comes from the source code. */
const rawPart = (text: string): Part =>
  new Part(
    cachedStrings(text, () => [text]),
    [],
  );

const emptyPart = rawPart('');
const defaultKeyword = rawPart('default');

/** Creates a part from one word that the code chose: the name of a table or column, or `asc`. */
const identifierPart = (text: string): Part => rawPart(requireIdentifier(text));

/** Creates a list of columns with their alias: `s.id, s.title`. */
const columnListPart = (alias: string, names: readonly string[]): Part =>
  rawPart(names.map((name) => `${requireIdentifier(alias)}.${requireIdentifier(name)}`).join(', '));

/** Joins values or parts with the given separator. */
function joinParts(
  values: readonly unknown[],
  separator: ', ' | ' ' | ' and ' | ' or ' | ' union all ' = ', ',
): Part {
  if (values.length === 0) return emptyPart;
  const strings = cachedStrings(`${values.length}${separator}`, () => [
    '',
    ...Array.from({ length: values.length - 1 }, () => separator),
    '',
  ]);
  return new Part(strings, values);
}

/** The columns that a caller writes. The organization comes from the transaction. */
type WritableColumns<Row> = Omit<Row, 'org_id'>;
type NewRow<Table extends keyof DB> = WritableColumns<Insertable<DB[Table]>>;
type RowChanges<Table extends keyof DB> = WritableColumns<Updateable<DB[Table]>>;

type ColumnsOf<Row> = readonly (keyof Row & string)[];

const columnValueOrDefault = (row: object, column: string): unknown => {
  const value: unknown = row[column as keyof typeof row];
  return value === undefined ? defaultKeyword : value;
};

/** Builds `insert into table (…) values (…)` with the given columns of one or several rows. */
function buildInsert<Table extends keyof DB>(
  table: Table,
  names: ColumnsOf<NewRow<Table>>,
  rows: NewRow<Table> | readonly NewRow<Table>[],
): Query<unknown> {
  const list: readonly NewRow<Table>[] = Array.isArray(rows) ? rows : [rows];
  const strings = cachedSql(`insert ${list.length} ${table}`, names, () => {
    const inRow = [...names.map(() => ', '), '), ('];
    return [
      `insert into ${requireIdentifier(table)} (${['org_id', ...names.map(requireIdentifier)].join(', ')}) values (`,
      ...list.flatMap(() => inRow).slice(0, -1),
      ')',
    ];
  });
  const values: unknown[] = [];
  for (const row of list) {
    values.push(currentOrgId);
    for (const name of names) values.push(columnValueOrDefault(row, name));
  }
  return createQuery(strings, values);
}

/** Builds `update table set …` with the given columns of a row. The caller appends the `where` clause. */
function buildUpdate<Table extends keyof DB>(
  table: Table,
  names: ColumnsOf<RowChanges<Table>>,
  row: RowChanges<Table>,
): Part {
  const strings = cachedSql(`update ${table}`, names, () => [
    ...names.map(
      (name, index) =>
        `${index === 0 ? `update ${requireIdentifier(table)} set ` : ', '}${requireIdentifier(name)} = `,
    ),
    '',
  ]);
  return new Part(
    strings,
    names.map((name) => columnValueOrDefault(row, name)),
  );
}

/**
 * A cache of generated SQL by the list of columns. The list is usually a constant, so that the cache finds
 * it again.
 */
const generatedSqlCache = new WeakMap<readonly string[], { key: string; strings: readonly string[] }>();

function cachedSql(
  statementKey: string,
  names: readonly string[],
  build: () => readonly string[],
): readonly string[] {
  const known = generatedSqlCache.get(names);
  if (known?.key === statementKey) return known.strings;
  const strings = cachedStrings(`${statementKey} ${names.join()}`, build);
  generatedSqlCache.set(names, { key: statementKey, strings });
  return strings;
}

/**
 * Writes an integer into the text of the statement. The planner can use its value, unlike that of a
 * parameter.
 */
function integerLiteral(number: number): Part {
  if (!Number.isSafeInteger(number)) throw new Error('a whole number was expected');
  return rawPart(String(number));
}

const createQuery = <Row>(strings: readonly string[], values: readonly unknown[]): Query<Row> =>
  new Part(strings, values) as Query<Row>;

/** Creates a statement. Its author declares the row type, and the specs compare it with the schema. */
const sqlTag = <Row = unknown>(strings: TemplateStringsArray, ...values: unknown[]): Query<Row> =>
  createQuery(strings, values);

const part = (strings: TemplateStringsArray, ...values: unknown[]): Part => new Part(strings, values);

export const sql = Object.assign(sqlTag, {
  part,
  empty: emptyPart,
  word: identifierPart,
  columns: columnListPart,
  join: joinParts,
  insert: buildInsert,
  update: buildUpdate,
  literal: integerLiteral,
});

const orgFilters = new Map<string, Part>();

/** The condition that the row with this alias belongs to the organization: `s.org_id = $1`. */
export function orgFilter(alias = ''): Part {
  let part = orgFilters.get(alias);
  if (part === undefined) {
    part = new Part([`${alias === '' ? '' : `${requireIdentifier(alias)}.`}org_id = `, ''], [currentOrgId]);
    orgFilters.set(alias, part);
  }
  return part;
}
