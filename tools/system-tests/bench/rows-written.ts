/**
 * Counts the rows that a server writes to each table. Two servers with equal promises write equally many
 * rows.
 */
import { type Pool } from '@muster/driver';

/** Tables that are written occasionally, not once per call. An example is the last use of a token. */
const byTheWay = ['tokens'];

/**
 * Returns the number of rows by table that transactions inserted or changed during the call. Monthly
 * partitions count as one table.
 */
export async function rowsWritten(owner: Pool, call: () => Promise<void>): Promise<Map<string, number>> {
  const [now] = (
    await owner.query<{ next: string }>('select pg_snapshot_xmax(pg_current_snapshot())::text as next')
  ).rows;
  await call();
  const { rows: tables } = await owner.query<{ name: string; root: string }>(
    `select c.oid::regclass::text as name, coalesce(pg_partition_root(c.oid), c.oid)::regclass::text as root
     from pg_class c where c.relkind = 'r' and c.relnamespace in ('public'::regnamespace, 'months'::regnamespace) and c.relname <> all ($1)`,
    [byTheWay],
  );
  const counts = tables.map(
    ({ name, root }) =>
      `select '${root}' as root, count(*)::int as written from only ${name} where xmin::text::bigint >= ${now?.next ?? 0}`,
  );
  const { rows } = await owner.query<{ root: string; written: number }>(
    `select root, sum(written)::int as written from (${counts.join(' union all ')}) t group by root having sum(written) > 0 order by root`,
  );
  return new Map(rows.map(({ root, written }) => [root, written]));
}
