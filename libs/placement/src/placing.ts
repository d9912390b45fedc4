/** Where organizations come to be. */
import { ask, DatabaseAway, OutcomeUnknown, type Pool, sql } from '@muster/driver';
import { allNodes } from './databases.ts';
import { type Node, nodesOf } from './nodes.ts';

/** The least full of the servers that take new organizations, by the bytes of its database. */
export async function chooseNode(pool: Pool): Promise<Node> {
  const all = allNodes(pool);
  const [home] = all;
  if (all.length === 1) return home;
  const closed = await ask(home.pool, sql<{ node: string }>`select node from app.nodes_closed() node`);
  const open = all.filter(({ name }) => closed.every(({ node }) => node !== name));
  const sizes = await Promise.all(
    open.map(async (node) => {
      // One that does not answer takes none.
      const bytes = await databaseBytes(node.pool).catch(() => Infinity);
      return { node, bytes };
    }),
  );
  const [least] = sizes.filter(({ bytes }) => bytes < Infinity).sort((a, b) => a.bytes - b.bytes);
  if (least === undefined) throw new DatabaseAway(new Error('no server takes new organizations'));
  return least.node;
}

export async function databaseBytes(pool: Pool): Promise<number> {
  const [row] = await ask(pool, sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`);
  return row?.bytes ?? 0;
}

/**
 * Makes an organization at a server: `make` is told which, and answers undefined where the slug is taken there. Undefined where it
 * is taken anywhere. What `make` throws leaves no place, unless it may have been done.
 */
export async function createOnNode<Made>(
  node: Node,
  { orgId, slug }: { readonly orgId: string; readonly slug: string },
  make: (at: Pool) => Promise<Made | undefined>,
): Promise<Made | undefined> {
  const nodes = nodesOf(node.pool);
  if (nodes === undefined || node.pool === nodes.home.pool) return make(node.pool);
  const { pool: home } = nodes.home;
  const [reserved] = await ask(
    home,
    sql<{ is_free: boolean }>`select app.reserve_place(${orgId}::uuid, ${node.name}, ${slug}) as is_free`,
  );
  if (reserved?.is_free !== true) return undefined;
  const leave = () => ask(home, sql`select app.forget_place(${orgId}::uuid, ${node.name})`);
  try {
    const made = await make(node.pool);
    if (made === undefined) await leave();
    return made;
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) await leave().catch(() => undefined);
    throw error;
  }
}

/** Whether an organization may have a slug, as far as its own server cannot say. */
export async function claimSlug(
  pool: Pool,
  orgId: string,
  { wanted, has }: { readonly wanted: string; readonly has: string },
): Promise<boolean> {
  const nodes = nodesOf(pool);
  // Where it was let in for this: a call that is there has a connection of home already, and may get no other.
  if (nodes === undefined || (await nodes.find([orgId], Infinity)).get(orgId) === nodes.home) return true;
  const [row] = await ask(
    nodes.home.pool,
    sql<{ is_own: boolean }>`select app.claim_slug(${orgId}::uuid, ${wanted}, ${has}) as is_own`,
  );
  return row?.is_own === true;
}

/** Says at home that an organization is no more that was removed from this server. */
export async function removePlacement(at: Node, orgId: string): Promise<void> {
  const nodes = nodesOf(at.pool);
  if (nodes === undefined) return;
  await ask(nodes.home.pool, sql`select app.forget_place(${orgId}::uuid, ${at.name})`);
}
