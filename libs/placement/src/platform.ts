/** Queries all servers on behalf of operators of the installation. */
import { bindStatement, type Pool, type Query, sendRead, sql } from '@muster/driver';
import { nodesOf } from './nodes.ts';

/**
 * Runs a query on every server except the organization's own one, where this token passed the check for
 * operators. Throws if a server does not answer, since partial figures and lists would look complete.
 */
export async function queryOtherServers<Row>(
  pool: Pool,
  { orgId, tokenHash }: { readonly orgId: string; readonly tokenHash: Buffer },
  query: Query<Row>,
): Promise<Row[][]> {
  const nodes = nodesOf(pool);
  if (nodes === undefined) return [];
  const own = (await nodes.findNodes([orgId], 0)).get(orgId);
  const pass = bindStatement(
    sql`select set_config('muster.platform_pass', ${tokenHash.toString('hex')}, true)`,
    null,
  );
  const statement = bindStatement(query, null);
  return Promise.all(
    nodes.all
      .filter((node) => node !== own)
      .map(async (node) => ((await sendRead(node.pool, [pass, statement]))[1]?.rows ?? []) as Row[]),
  );
}
