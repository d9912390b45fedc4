/**
 * What the release before would stumble over while it still runs on the new schema: statements that take away, rename or
 * demand, and those that hold up whoever works on a large table. The first wait for a later release (docs/guides/upgrading.md), and then say so in the comment above them:
 *
 *     -- contract of 0022_story_size: the release before reads sizes alone.
 *
 * It reads with PostgreSQL's own parser. What a function does inside it cannot see; that the code of the release before
 * runs on the new schema is tried as well (try-release.ts).
 */
import { statementsAlone } from '@muster/migrations';
import { parse, type ColumnDef, type Constraint, type Node, type RawStmt } from 'libpg-query';

export interface Finding {
  /** Such as "drops the column stories.points". */
  readonly what: string;
  /** The older migration that the comment above names as the one which made it needless. */
  readonly contractOf: string | undefined;
}

/** What a migration makes itself: nothing that runs yet depends on it. */
interface Made {
  readonly tables: Set<string>;
  readonly columns: Set<string>;
  readonly functions: Set<string>;
  /** Made or replaced: its text says all of their rights. */
  readonly statedFunctions: Set<string>;
  readonly policiesAndTriggers: Set<string>;
}

const mark = /^-- contract of (\d{4}_\w+): \S/m;

/** What in a migration the release before would stumble over. */
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
 * What is wrong with a migration that says that it runs outside a transaction: it may be stopped anywhere, and is run
 * again from its start. So each index is dropped before it is built, and nothing else is done.
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
  if (statementsAlone(sql).length !== stmts.length) wrong.push('has two statements in a line');
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

/** The last parts of a name, with a dot in between: `public.stories` is `stories`. */
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
    // A right that a migration lends to a role and takes back is one to a schema.
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
      return onlyOfNew(table, columns, made) ? [] : [`constrains ${table} (${columns.join(', ')})`];
    }
    default:
      return [];
  }
}

const kindsOf = ({ constraints = [] }: ColumnDef) =>
  constraints.flatMap((node) => ('Constraint' in node ? [node.Constraint.contype] : []));

/** Generated and stored: computed for each row that is there, while nobody reads the table. */
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

/** Whoever knows nothing of a new column leaves it empty, and no constraint minds that. */
const onlyOfNew = (table: string, columns: readonly string[], { tables, columns: made }: Made): boolean =>
  tables.has(table) || (columns.length > 0 && columns.every((column) => made.has(`${table}.${column}`)));

const columnsOf = ({ keys, fk_attrs: ofForeign, raw_expr: expression }: Constraint): string[] => [
  ...[...(keys ?? []), ...(ofForeign ?? [])].map((node) => lastOf([node])),
  ...columnsIn([expression]),
];

const isColumnRef = (value: object): value is { readonly ColumnRef: { readonly fields?: Node[] } } =>
  'ColumnRef' in value;
const isIndexedColumn = (value: object): value is { readonly name: string } =>
  'name' in value && typeof value.name === 'string';

/** The columns that an expression names, wherever in it; of an index also those that it is made of. */
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

/** What is dropped and made anew under its name is replaced. */
function droppedBy(
  { removeType, objects = [] }: { removeType?: string; objects?: Node[] },
  made: Made,
): string[] {
  const kind = removeType?.replace('OBJECT_', '').toLowerCase() ?? 'something';
  // The release before runs without an index, if slower.
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
