/** Removes the rows of an organization, and creates the monthly partitions that its rows need. */
import type pg from 'pg';
import {
  columnList,
  type MovedTable,
  qualifiedTableName,
  quoteIdentifier,
  runInTransaction,
} from './tables.ts';

/** Removes all rows of an organization in portions, so that no caller is blocked. Returns their number. */
export async function removeOrganizationRows(
  client: pg.ClientBase,
  orgId: string,
  tables: readonly MovedTable[],
): Promise<number> {
  let all = 0;
  for (const table of tables) {
    const where = `t.${quoteIdentifier(table.orgColumn)} = $1`;
    const keys = columnList(table.key, 't.');
    for (;;) {
      const { rowCount } = await client.query(
        `delete from ${qualifiedTableName(table)} t where (${keys}) in
           (select ${keys} from ${qualifiedTableName(table)} t where ${where} limit 2000)`,
        [orgId],
      );
      all += rowCount ?? 0;
      if ((rowCount ?? 0) < 2_000) break;
    }
  }
  return all;
}

/**
 * Creates the monthly partitions that the other server has and this one lacks, since the worker drops a month
 * as a whole.
 */
export async function createMissingMonths(from: pg.ClientBase, to: pg.ClientBase): Promise<void> {
  const { rows } = await from.query<{ kept: string; begins: string }>(
    `select m.kept::text as kept, (m.ends - interval '1 month')::text as begins from app.months() m where m.ends is not null`,
  );
  await runInTransaction(to, async () => {
    // The worker also takes this advisory lock while it maintains the partitions.
    await to.query('select pg_advisory_xact_lock(4105)');
    for (const { kept, begins } of rows)
      await to.query('select app.make_month($1::regclass, $2::timestamptz)', [kept, begins]);
  });
}
