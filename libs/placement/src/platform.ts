/** Operators of the installation, who see rows of every server. */
import { bind, type Pool, type Query, sendRead, sql } from '@muster/driver';
import { nodesOf } from './nodes.ts';

/**
 * What every other server than the organization's answers to an operator who was let in there by that token. Throws where one does not
 * answer: of figures and lists a part would look like all of it.
 */
export async function askOtherServers<Row>(
  pool: Pool,
  { orgId, tokenHash }: { readonly orgId: string; readonly tokenHash: Buffer },
  query: Query<Row>,
): Promise<Row[][]> {
  const nodes = nodesOf(pool);
  if (nodes === undefined) return [];
  const own = (await nodes.find([orgId], 0)).get(orgId);
  const pass = bind(sql`select set_config('muster.platform_pass', ${tokenHash.toString('hex')}, true)`, null);
  const statement = bind(query, null);
  return Promise.all(
    nodes.all
      .filter((node) => node !== own)
      .map(async (node) => ((await sendRead(node.pool, [pass, statement]))[1]?.rows ?? []) as Row[]),
  );
}
