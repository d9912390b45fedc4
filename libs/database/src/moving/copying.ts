/** Rows of an organization, from one server to the other. */
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import copyStreams from 'pg-copy-streams';
import { listOf, literal, type MovedTable, opensOrganization, tableOf, word } from './tables.ts';

export interface Ends {
  readonly from: pg.Client;
  readonly to: pg.Client;
  readonly orgId: string;
  readonly tables: readonly MovedTable[];
}

/** Rows in a statement at most, where they are named one by one. */
const portion = 500;

/** What `from` selects of a table, into the same table. Answers how many rows that were. */
async function copy({ from, to }: Ends, table: MovedTable, select: string): Promise<number> {
  const out = from.query(copyStreams.to(`copy (${select}) to stdout`));
  const into = to.query(copyStreams.from(`copy ${tableOf(table)} (${listOf(table.columns)}) from stdin`));
  await pipeline(out, into);
  return into.rowCount;
}

/** All rows, as the transaction that `from` is in sees them. */
export async function copyAll(ends: Ends, onTable: (name: string, rows: number) => void): Promise<number> {
  let all = 0;
  for (const table of ends.tables) {
    if (table.name === opensOrganization) continue;
    const { orgColumn, columns } = table;
    const where = `${word(orgColumn)} = ${literal(ends.orgId)}`;
    const rows = await copy(ends, table, `select ${listOf(columns)} from ${tableOf(table)} where ${where}`);
    onTable(table.name, rows);
    all += rows;
  }
  return all;
}

/**
 * The rows that were noted as changed, as they are now; those that are gone go. What was noted is taken off the list when the
 * other server has it. Answers how many keys there were. Where it fails, both connections are over.
 */
export async function copyChanged(ends: Ends): Promise<number> {
  const { from, to, orgId, tables } = ends;
  // As one moment saw all of them, and away before they come: a row may have a name that another one had before.
  await from.query('begin isolation level repeatable read');
  await to.query('begin');
  try {
    const { rows } = await from.query<{ name: string; keys: Record<string, unknown>[] }>(
      `with taken as (delete from app.changed_rows where org_id = $1 returning table_name, key)
       select table_name as name, jsonb_agg(distinct key) as keys from taken group by table_name`,
      [orgId],
    );
    let count = 0;
    const portions: Portion[] = [];
    for (const { name, keys } of rows) {
      const table = tables.find((one) => one.name === name);
      if (table === undefined) throw new Error(`there is no table ${name}`);
      if (name === opensOrganization) continue;
      count += keys.length;
      for (let at = 0; at < keys.length; at += portion)
        portions.push({ table, keys: keys.slice(at, at + portion) });
    }
    for (const one of portions) await deleteKeys(ends, one);
    for (const one of portions) await copyKeys(ends, one);
    await to.query('commit');
    await from.query('commit');
    return count;
  } catch (error) {
    // A copy that broke may hold its connection for good, so nothing is asked of it any more.
    await Promise.allSettled([to.end(), from.end()]);
    throw error;
  }
}

interface Portion {
  readonly table: MovedTable;
  readonly keys: readonly unknown[];
}

const namedIn = ({ table, keys }: Portion): string =>
  `jsonb_populate_recordset(null::${tableOf(table)}, ${literal(JSON.stringify(keys))}::jsonb) k`;
const onKey = ({ table }: Portion): string =>
  table.key.map((column) => `t.${word(column)} = k.${word(column)}`).join(' and ');

const deleteKeys = ({ to }: Ends, some: Portion) =>
  to.query(`delete from ${tableOf(some.table)} t using ${namedIn(some)} where ${onKey(some)}`);

const copyKeys = (ends: Ends, some: Portion) =>
  copy(
    ends,
    some.table,
    `select ${listOf(some.table.columns, 't.')} from ${tableOf(some.table)} t join ${namedIn(some)} on ${onKey(some)}`,
  );

/** Removes all rows of an organization, a portion at a time, so that no caller waits for them. Answers how many those were. */
export async function removeAll(
  client: pg.ClientBase,
  orgId: string,
  tables: readonly MovedTable[],
): Promise<number> {
  let all = 0;
  for (const table of tables) {
    const where = `t.${word(table.orgColumn)} = $1`;
    const keys = listOf(table.key, 't.');
    for (;;) {
      const { rowCount } = await client.query(
        `delete from ${tableOf(table)} t where (${keys}) in
           (select ${keys} from ${tableOf(table)} t where ${where} limit 2000)`,
        [orgId],
      );
      all += rowCount ?? 0;
      if ((rowCount ?? 0) < 2_000) break;
    }
  }
  return all;
}

/** The months of tables that the other server has, made where they are missing: a month is dropped as a whole. */
export async function makeMonths({ from, to }: Pick<Ends, 'from' | 'to'>): Promise<void> {
  const { rows } = await from.query<{ kept: string; begins: string }>(
    `select m.kept::text as kept, (m.ends - interval '1 month')::text as begins from app.months() m where m.ends is not null`,
  );
  await to.query('begin');
  try {
    // The worker has it too while it keeps the months.
    await to.query('select pg_advisory_xact_lock(4105)');
    for (const { kept, begins } of rows)
      await to.query('select app.make_month($1::regclass, $2::timestamptz)', [kept, begins]);
    await to.query('commit');
  } catch (error) {
    await to.query('rollback');
    throw error;
  }
}
