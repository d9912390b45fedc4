/**
 * Checks that a statement names the organization for each table that it reads or writes. It uses PostgreSQL's
 * own parser.
 */
import { parse } from 'libpg-query';

/** Returns the name of a tenant table's organization column; undefined for any other table. */
export type OrganizationColumnOf = (table: string) => string | undefined;

interface Node {
  readonly [kind: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;
const childOf = (node: unknown, kind: string): Node | undefined => {
  const child = isNode(node) ? node[kind] : undefined;
  return isNode(child) ? child : undefined;
};
const listOf = (node: unknown, field: string): readonly unknown[] => {
  const list = isNode(node) ? node[field] : undefined;
  return Array.isArray(list) ? list : [];
};
const textOf = (node: unknown, field: string): string => {
  const text = isNode(node) ? node[field] : undefined;
  return typeof text === 'string' ? text : '';
};

/** The parse nodes that begin a query level of their own. */
const levels = ['SelectStmt', 'InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt'] as const;

/**
 * The name that stands for any value from outside the level. Two sides of an equation have equal names if
 * they are the same column of the level or both come from outside.
 */
const outside = 'the parameter';

interface Level {
  readonly kind: string;
  readonly node: Node;
  /** Names of the common table expressions that this query level can see. */
  readonly cteNames: ReadonlySet<string>;
}

interface Reference {
  readonly table: string;
  readonly alias: string;
}

/**
 * Lists the tenant tables of a statement that the same query level does not tie to one organization, each
 * with its alias. A table is tied if its organization equals a parameter, a constant or app.org_id(),
 * directly or through another table of the level. An equation with a table of an outer level or with a common
 * table expression does not count.
 */
export async function unpinnedIn(text: string, columnOf: OrganizationColumnOf): Promise<string[]> {
  const unpinned: string[] = [];
  for (const level of levelsIn(await parse(text), new Set())) unpinned.push(...unpinnedOf(level, columnOf));
  return unpinned;
}

function* levelsIn(node: unknown, named: ReadonlySet<string>): Generator<Level> {
  if (Array.isArray(node)) {
    for (const one of node as readonly unknown[]) yield* levelsIn(one, named);
    return;
  }
  if (!isNode(node)) return;
  for (const [kind, inner] of Object.entries(node)) {
    if (!isNode(inner)) continue;
    // The parser returns the two halves of a union without their node kind, as it returns the sides of a
    // join.
    const isHalf = (kind === 'larg' || kind === 'rarg') && 'op' in inner;
    const isLevel = isHalf || (levels as readonly string[]).includes(kind);
    const sees = isLevel ? new Set([...named, ...namesOf(inner)]) : named;
    if (isLevel) yield { kind, node: inner, cteNames: sees };
    yield* levelsIn(inner, sees);
  }
}

const namesOf = (statement: Node): string[] =>
  listOf(statement['withClause'], 'ctes').map((cte) => textOf(childOf(cte, 'CommonTableExpr'), 'ctename'));

function unpinnedOf({ kind, node, cteNames: named }: Level, columnOf: OrganizationColumnOf): string[] {
  const references: Reference[] = [];
  const quals: unknown[] = [node['whereClause']];
  const visit = (item: unknown): void => {
    const range = childOf(item, 'RangeVar');
    if (range !== undefined) add(range);
    const join = childOf(item, 'JoinExpr');
    if (join === undefined) return;
    visit(join['larg']);
    if (isFalse(join['quals'])) return;
    quals.push(join['quals']);
    visit(join['rarg']);
  };
  const add = (range: Node): void => {
    const table = textOf(range, 'relname');
    if (named.has(table) && textOf(range, 'schemaname') === '') return;
    references.push({ table, alias: textOf(range['alias'], 'aliasname') || table });
  };
  for (const field of ['fromClause', 'usingClause']) for (const item of listOf(node, field)) visit(item);
  // The row security policy of the table checks inserted rows. The query that an INSERT reads from is a level
  // of its own.
  const target = node['relation'];
  if (kind !== 'InsertStmt' && isNode(target)) add(target);

  const linked = new Links();
  for (const qual of quals)
    for (const [left, right] of equationsIn(qual))
      linked.join(sideOf(left, references), sideOf(right, references));
  return references
    .filter(({ table, alias }) => {
      const column = columnOf(table);
      return column !== undefined && !linked.are(`${alias}.${column}`, outside);
    })
    .map(({ table, alias }) => (table === alias ? table : `${table} ${alias}`));
}

/** Returns true for the join condition FALSE. Such a join reads no rows of its table. */
const isFalse = (qual: unknown): boolean => {
  const constant = childOf(qual, 'A_Const');
  const value = childOf(constant, 'boolval');
  return value !== undefined && value['boolval'] !== true;
};

/** Yields the equations that AND joins in a condition, so that all of them have to hold. */
function* equationsIn(qual: unknown): Generator<readonly [unknown, unknown]> {
  const and = childOf(qual, 'BoolExpr');
  if (and !== undefined && and['boolop'] === 'AND_EXPR')
    for (const one of listOf(and, 'args')) yield* equationsIn(one);
  const expression = childOf(qual, 'A_Expr');
  if (expression === undefined) return;
  const isEquation = textOf(childOf(listOf(expression, 'name')[0], 'String'), 'sval') === '=';
  if (isEquation && expression['kind'] === 'AEXPR_OP') yield [expression['lexpr'], expression['rexpr']];
}

function sideOf(node: unknown, references: readonly Reference[]): string | undefined {
  const cast = childOf(node, 'TypeCast');
  if (cast !== undefined) return sideOf(cast['arg'], references);
  if (childOf(node, 'ParamRef') !== undefined || childOf(node, 'A_Const') !== undefined) return outside;
  const call = listOf(childOf(node, 'FuncCall'), 'funcname').map((part) =>
    textOf(childOf(part, 'String'), 'sval'),
  );
  if (call.join('.') === 'app.org_id') return outside;
  const sublink = childOf(node, 'SubLink');
  if (sublink !== undefined) return undefined;
  const column = listOf(childOf(node, 'ColumnRef'), 'fields').map((part) =>
    textOf(childOf(part, 'String'), 'sval'),
  );
  if (column.length === 0) return undefined;
  // A column without an alias belongs to the only table of the query level.
  if (column.length === 1)
    return references.length === 1 ? `${references[0]?.alias ?? ''}.${column[0] ?? ''}` : undefined;
  const [alias = '', name = ''] = column.slice(-2);
  return references.some((reference) => reference.alias === alias) ? `${alias}.${name}` : undefined;
}

/** Groups of column names that have an equal value. */
class Links {
  readonly #parents = new Map<string, string>();

  #root(name: string): string {
    const parent = this.#parents.get(name);
    return parent === undefined ? name : this.#root(parent);
  }

  join(left: string | undefined, right: string | undefined): void {
    if (left === undefined || right === undefined) return;
    const [one, other] = [this.#root(left), this.#root(right)];
    if (one !== other) this.#parents.set(one, other);
  }

  are(left: string, right: string): boolean {
    return this.#root(left) === this.#root(right);
  }
}
