/**
 * Removes a row and everything that refers to it, in portions. Each portion is a short transaction of its
 * own, followed by a pause of the same length, so that callers are not blocked, no matter how many rows there
 * are. References are read from the catalog, so that no table is forgotten. Children are removed before their
 * parents, so a process that was stopped anywhere can start again and continue with the rest.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Db, type Part, type Pool, sql } from '@muster/driver';
import { acrossOrganizations } from './system.ts';

/** The columns of a row that foreign keys refer to, and its primary key. */
type RowKey = Readonly<Record<string, unknown>>;

interface ForeignKey {
  readonly child: string;
  readonly childColumns: readonly string[];
  readonly parent: string;
  readonly parentColumns: readonly string[];
}

interface TableInfo {
  readonly name: string;
  readonly primaryKey: readonly string[];
  /**
   * The foreign keys that refer to the table and whose rows are removed with it, farthest from the root
   * first.
   */
  readonly foreignKeys: readonly ForeignKey[];
  readonly keyColumns: readonly string[];
}

type TablesByName = ReadonlyMap<string, TableInfo>;

export interface Removal {
  readonly table: 'projects' | 'orgs' | 'webhooks';
  readonly key: RowKey;
  readonly signal: AbortSignal;
  /** The maximum number of rows in a portion. */
  readonly maxPortionRows?: number;
  /** Receives the table and the number of rows of each portion after its commit. */
  readonly onPortion?: (table: string, rows: number) => void;
}

const defaultPortionRows = 1_000;

/**
 * Removes the row and everything that refers to it. Returns false if another process is removing it, or if
 * its organization is moving to another server.
 */
export async function removeInPortions(pool: Pool, removal: Removal): Promise<boolean> {
  const tables = await acrossOrganizations(pool, readTables);
  try {
    await removeRows({ pool, tables, ...removal }, removal.table, [removal.key]);
    return true;
  } catch (error) {
    if (error instanceof RemovalConflict) return false;
    throw error;
  }
}

class RemovalConflict extends Error {}

interface RunningRemoval extends Removal {
  readonly pool: Pool;
  readonly tables: TablesByName;
}

async function removeRows(
  removal: RunningRemoval,
  tableName: string,
  keys: readonly RowKey[],
): Promise<void> {
  const table = removal.tables.get(tableName);
  if (table === undefined) throw new Error(`the table ${tableName} does not exist`);
  for (const link of table.foreignKeys) {
    for (;;) {
      const children = await runPortion(removal, (db) => findChildren(db, removal, link, keys));
      if (children.length === 0) break;
      await removeRows(removal, link.child, children);
    }
  }
  await runPortion(removal, (db) => deleteRows(db, table, keys));
  removal.onPortion?.(tableName, keys.length);
}

/**
 * Runs one portion under an advisory lock. Only one process at a time removes a given row: two would find the
 * same rows and wait for each other.
 */
async function runPortion<Result>(
  { pool, key, signal }: RunningRemoval,
  work: (db: Db) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const began = performance.now();
  const result = await acrossOrganizations(pool, async (db) => {
    const { mine } = await db.one(
      sql<{
        mine: boolean;
      }>`select pg_try_advisory_xact_lock(hashtextextended(${JSON.stringify(key)}, 4104)) as mine`,
    );
    if (!mine) throw new RemovalConflict();
    return work(db);
  });
  await pause(performance.now() - began, undefined, { signal });
  return result;
}

async function findChildren(
  db: Db,
  { tables, maxPortionRows = defaultPortionRows }: RunningRemoval,
  { child, childColumns, parent, parentColumns }: ForeignKey,
  keys: readonly RowKey[],
): Promise<RowKey[]> {
  const columns = tables.get(child)?.keyColumns ?? [];
  const on = childColumns.map(
    (column, nth) => sql.part`c.${sql.word(column)} = p.${sql.word(parentColumns[nth] ?? '')}`,
  );
  const pairs = columns.map((column) => sql.part`${column}::text, c.${sql.word(column)}`);
  const rows = await db.all(
    sql<{ key: RowKey }>`select jsonb_build_object(${sql.join(pairs)}) as key
      from jsonb_populate_recordset(null::${sql.word(parent)}, ${JSON.stringify(keys)}::jsonb) p
      join ${sql.word(child)} c on ${sql.join(on, ' and ')} limit ${maxPortionRows}`,
  );
  return rows.map(({ key }) => key);
}

async function deleteRows(db: Db, { name, primaryKey }: TableInfo, keys: readonly RowKey[]): Promise<void> {
  // Turns off the triggers that maintain counts. The rows with the counts are deleted as well.
  await db.all(sql`select set_config('muster.counts', 'by hand', true)`);
  const table = sql.word(name);
  const on = primaryKey.map((column) => sql.part`t.${sql.word(column)} = k.${sql.word(column)}`);
  const these = sql.part`jsonb_populate_recordset(null::${table}, ${JSON.stringify(keys)}::jsonb) k`;
  const gone = await db.all(
    sql`delete from ${table} t using ${these} where ${sql.join(on, ' and ')} returning 1`,
  );
  if (gone.length > 0) return;
  // Rows of an organization that is leaving this server cannot be deleted. Looking for them again would never
  // end.
  const left = await db.all(sql`select 1 from ${table} t join ${these} on ${sql.join(on, ' and ')} limit 1`);
  if (left.length > 0) throw new RemovalConflict();
}

const columnNames = (relation: Part, numbers: Part): Part =>
  sql.part`array(select quote_ident(a.attname) from unnest(${numbers}) with ordinality k (attnum, ord)
     join pg_attribute a on a.attrelid = ${relation} and a.attnum = k.attnum order by ord)`;

async function readTables(db: Db): Promise<TablesByName> {
  const links = await db.all(
    sql<ForeignKey>`select c.conrelid::regclass::text as child, ${columnNames(sql.part`c.conrelid`, sql.part`c.conkey`)} as "childColumns",
         c.confrelid::regclass::text as parent, ${columnNames(sql.part`c.confrelid`, sql.part`c.confkey`)} as "parentColumns"
       from pg_constraint c
       where c.contype = 'f' and c.conparentid = 0 and c.connamespace = 'public'::regnamespace
       order by c.conname, 1`,
  );
  const primaryKeys = await db.all(
    sql<{
      name: string;
      columns: string[];
    }>`select c.conrelid::regclass::text as name, ${columnNames(sql.part`c.conrelid`, sql.part`c.conkey`)} as columns
       from pg_constraint c
       where c.contype = 'p' and c.conparentid = 0 and c.connamespace = 'public'::regnamespace`,
  );
  const depths = tableDepths(links);
  return new Map(
    primaryKeys.map(({ name, columns }) => {
      const own = links.filter(({ parent }) => parent === name);
      return [
        name,
        {
          name,
          primaryKey: columns,
          foreignKeys: own.toSorted(
            (one, other) => (depths.get(other.child) ?? 0) - (depths.get(one.child) ?? 0),
          ),
          keyColumns: [...new Set([...columns, ...own.flatMap(({ parentColumns }) => parentColumns)])],
        },
      ];
    }),
  );
}

/** Computes the distance of each table from the tables that refer to no other table. */
function tableDepths(links: readonly ForeignKey[]): ReadonlyMap<string, number> {
  const depths = new Map<string, number>();
  const depthOf = (name: string): number => {
    const known = depths.get(name);
    if (known !== undefined) return known;
    const parents = links.filter(({ child, parent }) => child === name && parent !== name);
    const depth = 1 + Math.max(0, ...parents.map(({ parent }) => depthOf(parent)));
    depths.set(name, depth);
    return depth;
  };
  for (const { child } of links) depthOf(child);
  return depths;
}
