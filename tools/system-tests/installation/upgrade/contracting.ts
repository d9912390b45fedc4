/**
 * Finds statements that break the previous release while it still runs on the new schema, or that block its
 * writers. The first kind removes, renames or requires something. The second kind locks a large table for
 * long. The first kind waits for a later release (docs/guides/upgrading.md) and then has a comment above it:
 * -- contract of 0022_story_size: the release before reads sizes alone.
 * The check uses PostgreSQL's own parser, so it cannot look inside a function. try-release.ts therefore also
 * runs the code of the previous release on the new schema.
 */
import { splitStatements } from '@muster/migrations';
import { parse, type ColumnDef, type Constraint, type Node, type RawStmt } from 'libpg-query';

export interface Finding {
  /** A description such as "drops the column stories.points". */
  readonly what: string;
  /** The older migration that made this object unnecessary, as the comment above the statement names it. */
  readonly contractOf: string | undefined;
}

/** The objects that a migration creates itself, on which no running code depends yet. */
interface Made {
  readonly tables: Set<string>;
  readonly columns: Set<string>;
  readonly functions: Set<string>;
  /** Functions that are created or replaced. Their definition in this file states all of their rights. */
  readonly statedFunctions: Set<string>;
  readonly policiesAndTriggers: Set<string>;
}

const mark = /^-- contract of (\d{4}_\w+): \S/m;

/**
 * Finds the statements of a migration that break the previous release while it still runs, or block its
 * writers.
 */
export async function contractingIn(sql: string): Promise<Finding[]> {
  const { stmts = [] } = await parse(sql);
  const made = madeBy(stmts);
  const bytes = Buffer.from(sql);
  let end = 0;
  return stmts.flatMap(({ stmt, stmt_location: start = 0, stmt_len: length }) => {
    const comment = bytes.subarray(end, start).toString();
    end = start + (length ?? 0);
    const contractOf = mark.exec(comment)?.[1];
    return (stmt === undefined ? [] : findingsIn(stmt, made)).map((what) => ({ what, contractOf }));
  });
}

const outside = /^-- outside a transaction: \S/;

/**
 * Lists the faults of a migration that is marked to run outside a transaction. The migration may stop
 * anywhere and then starts again from the beginning. It may therefore only build indexes, and must drop each
 * of them first.
 */
export async function wrongAlone(sql: string): Promise<string[]> {
  const { stmts = [] } = await parse(sql);
  const wrong: string[] = [];
  if (!outside.test(sql))
    return stmts.some(
      ({ stmt }) => stmt !== undefined && 'IndexStmt' in stmt && stmt.IndexStmt.concurrent === true,
    )
      ? ['is in a transaction, in which no index is built beside others']
      : [];
  if (splitStatements(sql).length !== stmts.length) wrong.push('has two statements in a line');
  const dropped = new Set<string>();
  for (const { stmt } of stmts) {
    if (stmt !== undefined && 'IndexStmt' in stmt) {
      const { idxname = '', concurrent } = stmt.IndexStmt;
      if (concurrent !== true) wrong.push(`builds ${idxname} in front of writers`);
      if (!dropped.has(idxname)) wrong.push(`builds ${idxname} without dropping it first`);
    } else if (
      stmt !== undefined &&
      'DropStmt' in stmt &&
      stmt.DropStmt.removeType === 'OBJECT_INDEX' &&
      stmt.DropStmt.concurrent === true
    ) {
      for (const node of stmt.DropStmt.objects ?? []) dropped.add(nameOf(node));
    } else wrong.push('does something else');
  }
  return wrong;
}

/** Returns the last `count` parts of a name, joined by dots: `public.stories` becomes `stories`. */
const lastOf = (names: readonly (Node | undefined)[] = [], count = 1): string =>
  names
    .flatMap((node) => (node !== undefined && 'String' in node ? [node.String.sval ?? ''] : []))
    .slice(-count)
    .join('.');

function madeBy(statements: readonly RawStmt[]): Made {
  const made: Made = {
    tables: new Set(),
    columns: new Set(),
    functions: new Set(),
    statedFunctions: new Set(),
    policiesAndTriggers: new Set(),
  };
  for (const { stmt } of statements) {
    if (stmt === undefined) continue;
    if ('CreateStmt' in stmt) made.tables.add(stmt.CreateStmt.relation?.relname ?? '');
    if ('CreateFunctionStmt' in stmt) {
      const { funcname, replace } = stmt.CreateFunctionStmt;
      made.statedFunctions.add(lastOf(funcname));
      if (replace !== true) made.functions.add(lastOf(funcname));
    }
    if ('CreatePolicyStmt' in stmt) {
      const { table, policy_name: name = '' } = stmt.CreatePolicyStmt;
      made.policiesAndTriggers.add(`${table?.relname ?? ''}.${name}`);
    }
    if ('CreateTrigStmt' in stmt) {
      const { relation, trigname = '' } = stmt.CreateTrigStmt;
      made.policiesAndTriggers.add(`${relation?.relname ?? ''}.${trigname}`);
    }
    if ('AlterTableStmt' in stmt) {
      const table = stmt.AlterTableStmt.relation?.relname ?? '';
      for (const { subtype, def } of commandsOf(stmt.AlterTableStmt.cmds)) {
        if (subtype === 'AT_AddColumn' && def !== undefined && 'ColumnDef' in def)
          made.columns.add(`${table}.${def.ColumnDef.colname ?? ''}`);
      }
    }
  }
  return made;
}

const commandsOf = (nodes: readonly Node[] = []) =>
  nodes.flatMap((node) => ('AlterTableCmd' in node ? [node.AlterTableCmd] : []));

function findingsIn(stmt: Node, made: Made): string[] {
  if ('AlterTableStmt' in stmt) {
    const table = stmt.AlterTableStmt.relation?.relname ?? '';
    if (made.tables.has(table)) return [];
    return commandsOf(stmt.AlterTableStmt.cmds).flatMap((command) => findingsInCommand(table, command, made));
  }
  if ('DropStmt' in stmt) return droppedBy(stmt.DropStmt, made);
  if ('RenameStmt' in stmt) {
    const { relation, subname, newname = '', object } = stmt.RenameStmt;
    const from = [relation?.relname ?? nameOf(object), subname].filter(Boolean).join('.');
    return made.tables.has(relation?.relname ?? '') ? [] : [`renames ${from} to ${newname}`];
  }
  if ('IndexStmt' in stmt) {
    const { relation, indexParams = [], whereClause, unique, concurrent } = stmt.IndexStmt;
    const table = relation?.relname ?? '';
    const columns = columnsIn([...indexParams, whereClause]);
    return [
      ...(unique === true && !onlyOfNew(table, columns, made)
        ? [`demands that ${table} (${columns.join(', ')}) is unique`]
        : []),
      ...(concurrent === true || made.tables.has(table) ? [] : [`holds up writers of ${table}`]),
    ];
  }
  if ('TruncateStmt' in stmt) return ['truncates'];
  if ('GrantStmt' in stmt && stmt.GrantStmt.is_grant !== true) {
    // A migration grants a role rights to a schema only temporarily and revokes them again.
    const { objects = [], objtype } = stmt.GrantStmt;
    if (objtype === 'OBJECT_SCHEMA') return [];
    return objects
      .map(nameOf)
      .filter((name) => !made.tables.has(name) && !made.statedFunctions.has(name))
      .map((name) => `revokes rights to ${name}`);
  }
  return [];
}

type AlterTableCmd = ReturnType<typeof commandsOf>[number];

function findingsInCommand(table: string, { subtype, name = '', def }: AlterTableCmd, made: Made): string[] {
  const column = `${table}.${name}`;
  if (made.columns.has(column)) return [];
  switch (subtype) {
    case 'AT_DropColumn':
      return [`drops the column ${column}`];
    case 'AT_AlterColumnType':
      return [`changes the type of ${column}`];
    case 'AT_SetNotNull':
      return [`demands ${column}`];
    case 'AT_ColumnDefault':
      return def === undefined ? [`takes the default from ${column}`] : [];
    case 'AT_EnableRowSecurity':
    case 'AT_ForceRowSecurity':
      return [`hides rows of ${table}`];
    case 'AT_AddColumn':
      if (def === undefined || !('ColumnDef' in def)) return [];
      if (isStored(def.ColumnDef)) return [`writes all rows of ${table} anew`];
      return isDemanded(def.ColumnDef)
        ? [`demands the new column ${table}.${def.ColumnDef.colname ?? ''}`]
        : [];
    case 'AT_AddConstraint': {
      if (def === undefined || !('Constraint' in def)) return [];
      const columns = columnsOf(def.Constraint);
      return onlyOfNew(table, columns, made) || isForeignKeyWithNewColumn(table, def.Constraint, made)
        ? []
        : [`constrains ${table} (${columns.join(', ')})`];
    }
    default:
      return [];
  }
}

const kindsOf = ({ constraints = [] }: ColumnDef) =>
  constraints.flatMap((node) => ('Constraint' in node ? [node.Constraint.contype] : []));

/**
 * Returns true for a stored generated column. Postgres computes it for every existing row while the table is
 * locked against reads.
 */
const isStored = (column: ColumnDef): boolean => kindsOf(column).includes('CONSTR_GENERATED');

function isDemanded(column: ColumnDef): boolean {
  const { raw_default: preset } = column;
  const kinds = kindsOf(column);
  const isFilled =
    preset !== undefined ||
    kinds.some(
      (kind) => kind === 'CONSTR_DEFAULT' || kind === 'CONSTR_GENERATED' || kind === 'CONSTR_IDENTITY',
    );
  return !isFilled && kinds.some((kind) => kind === 'CONSTR_NOTNULL' || kind === 'CONSTR_PRIMARY');
}

/**
 * Returns true if the table or every column is new. Code that does not know a new column leaves it empty,
 * which violates no constraint.
 */
const onlyOfNew = (table: string, columns: readonly string[], { tables, columns: made }: Made): boolean =>
  tables.has(table) || (columns.length > 0 && columns.every((column) => made.has(`${table}.${column}`)));

/**
 * Returns true for a foreign key with a new column. Code that does not know the column leaves it null, and a
 * key with a null column is not checked.
 */
const isForeignKeyWithNewColumn = (
  table: string,
  { contype, fk_attrs: attributes = [], fk_matchtype: matchType }: Constraint,
  { columns }: Made,
): boolean =>
  contype === 'CONSTR_FOREIGN' &&
  matchType === 's' &&
  attributes.some((node) => columns.has(`${table}.${lastOf([node])}`));

const columnsOf = ({ keys, fk_attrs: ofForeign, raw_expr: expression }: Constraint): string[] => [
  ...[...(keys ?? []), ...(ofForeign ?? [])].map((node) => lastOf([node])),
  ...columnsIn([expression]),
];

const isColumnRef = (value: object): value is { readonly ColumnRef: { readonly fields?: Node[] } } =>
  'ColumnRef' in value;
const isIndexedColumn = (value: object): value is { readonly name: string } =>
  'name' in value && typeof value.name === 'string';

/** Lists the columns that an expression names at any depth, and the columns of an index. */
function columnsIn(nodes: readonly unknown[]): string[] {
  const columns = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (isColumnRef(value)) columns.add(lastOf(value.ColumnRef.fields));
    else if (isIndexedColumn(value)) columns.add(value.name);
    else for (const part of Object.values<unknown>({ ...value })) visit(part);
  };
  nodes.forEach(visit);
  return [...columns];
}

/**
 * Lists the dropped objects. An object that is dropped and created again under its name counts as replaced.
 */
function droppedBy(
  { removeType, objects = [] }: { removeType?: string; objects?: Node[] },
  made: Made,
): string[] {
  const kind = removeType?.replace('OBJECT_', '').toLowerCase() ?? 'something';
  // Without the dropped index the previous release still runs, only slower.
  if (kind === 'index') return [];
  const isInTable = kind === 'policy' || kind === 'trigger';
  return objects
    .map((node) => nameOf(node, isInTable ? 2 : 1))
    .filter((name) => !made.tables.has(name) && !(isInTable && made.policiesAndTriggers.has(name)))
    .map((name) => `drops the ${kind} ${name}`);
}

function nameOf(node: Node | undefined, count = 1): string {
  if (node === undefined) return '';
  if ('RangeVar' in node) return node.RangeVar.relname ?? '';
  if ('ObjectWithArgs' in node) return lastOf(node.ObjectWithArgs.objname);
  if ('List' in node) return lastOf(node.List.items, count);
  return lastOf([node]);
}
