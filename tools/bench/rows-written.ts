/** Which rows a server leaves where: two that promise the same write as many rows of the same tables. */
import { type Pool } from '@muster/driver';

/** Written now and then, whatever is asked: when a token was last used. */
const byTheWay = ['tokens'];

/** Rows by their table, months of one as one, that transactions inserted or changed during the call. */
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
