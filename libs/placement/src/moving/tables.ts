/** Reads the tables with rows of organizations from the catalog, so that no new table is forgotten. */
import pg from 'pg';

export interface MovedTable {
  readonly name: string;
  /** The column that holds the organization's id. */
  readonly orgColumn: string;
  /** The columns that are written; generated ones are excluded. */
  readonly columns: readonly string[];
  readonly key: readonly string[];
}

/**
 * The table without whose row no call can enter an organization. Its row is created where the organization is
 * open, and is never copied.
 */
export const rightsEpochsTable = 'rights_epochs';

export async function readTables(client: pg.ClientBase): Promise<MovedTable[]> {
  const { rows } = await client.query<MovedTable>(
    `select c.relname as name, org.attname as "orgColumn",
       array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
         and a.attgenerated = '' order by a.attnum) as columns,
       array(select a.attname::text from pg_index i cross join unnest(i.indkey) with ordinality k (num, nth)
         join pg_attribute a on a.attrelid = c.oid and a.attnum = k.num
         where i.indrelid = c.oid and i.indisprimary order by k.nth) as key
     from pg_class c join pg_attribute org on org.attrelid = c.oid
       and org.attname = case c.relname when 'orgs' then 'id' else 'org_id' end
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     order by c.relname`,
  );
  const without = rows.find(({ key }) => key.length === 0);
  if (without !== undefined) throw new Error(`${without.name} has no primary key`);
  return rows;
}

/**
 * Returns a sentence if the tables of the servers differ, which means that the servers run different
 * releases.
 */
export function describeSchemaDifference(
  sourceTables: readonly MovedTable[],
  targetTables: readonly MovedTable[],
): string | undefined {
  const describeTables = (tables: readonly MovedTable[]): string =>
    JSON.stringify(tables.map(({ name, columns, key }) => [name, columns.toSorted(), key]));
  return describeTables(sourceTables) === describeTables(targetTables)
    ? undefined
    : 'the two servers have different schemas; run the migrations on both';
}

export const quoteIdentifier = (name: string): string => pg.escapeIdentifier(name);
export const qualifiedTableName = ({ name }: MovedTable): string => `public.${quoteIdentifier(name)}`;
export const columnList = (columns: readonly string[], prefix = ''): string =>
  columns.map((column) => `${prefix}${quoteIdentifier(column)}`).join(', ');
export const quoteLiteral = (text: string): string => pg.escapeLiteral(text);

/** Runs the work in a transaction of the connection. An error leaves no transaction open and is thrown again. */
export async function runInTransaction(client: pg.ClientBase, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  try {
    await work();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}
