/** Chooses the servers of new organizations. */
import { queryOutsideOrg, DatabaseAway, CommitOutcomeUnknown, type Pool, sql } from '@muster/driver';
import { allNodes } from './databases.ts';
import { type Node, nodesOf } from './nodes.ts';

/**
 * Returns the least full of the servers that accept new organizations, by the size of its database in bytes.
 */
export async function chooseNode(pool: Pool): Promise<Node> {
  const all = allNodes(pool);
  const [home] = all;
  if (all.length === 1) return home;
  const closed = await queryOutsideOrg(
    home.pool,
    sql<{ node: string }>`select node from app.nodes_closed() node`,
  );
  const open = all.filter(({ name }) => closed.every(({ node }) => node !== name));
  const sizes = await Promise.all(
    open.map(async (node) => {
      // A server that does not answer gets no new organization.
      const bytes = await databaseBytes(node.pool).catch(() => Infinity);
      return { node, bytes };
    }),
  );
  const [least] = sizes.filter(({ bytes }) => bytes < Infinity).sort((a, b) => a.bytes - b.bytes);
  if (least === undefined) throw new DatabaseAway(new Error('no database server accepts new organizations'));
  return least.node;
}

export async function databaseBytes(pool: Pool): Promise<number> {
  const [row] = await queryOutsideOrg(
    pool,
    sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`,
  );
  return row?.bytes ?? 0;
}

/**
 * Creates an organization on a server. `make` runs there and returns undefined if the slug is taken there.
 * Returns undefined if the slug is taken on any server. An error of `make` removes the reserved placement,
 * unless the organization may have been created.
 */
export async function createOnNode<Made>(
  node: Node,
  { orgId, slug }: { readonly orgId: string; readonly slug: string },
  createOrganization: (at: Pool) => Promise<Made | undefined>,
): Promise<Made | undefined> {
  const nodes = nodesOf(node.pool);
  if (nodes === undefined || node.pool === nodes.home.pool) return createOrganization(node.pool);
  const { pool: home } = nodes.home;
  const [reserved] = await queryOutsideOrg(
    home,
    sql<{ is_free: boolean }>`select app.reserve_place(${orgId}::uuid, ${node.name}, ${slug}) as is_free`,
  );
  if (reserved?.is_free !== true) return undefined;
  const leave = () => queryOutsideOrg(home, sql`select app.forget_place(${orgId}::uuid, ${node.name})`);
  try {
    const made = await createOrganization(node.pool);
    if (made === undefined) await leave();
    return made;
  } catch (error) {
    if (!(error instanceof CommitOutcomeUnknown)) await leave().catch(() => undefined);
    throw error;
  }
}

/**
 * Returns true if no organization on another server has the slug. The organization's own server checks its
 * own slugs.
 */
export async function claimSlug(
  pool: Pool,
  orgId: string,
  { wanted, has }: { readonly wanted: string; readonly has: string },
): Promise<boolean> {
  const nodes = nodesOf(pool);
  // Uses the cached placement that admitted this call. The call already holds a connection to the primary
  // server and might not get a second one.
  if (nodes === undefined || (await nodes.findNodes([orgId], Infinity)).get(orgId) === nodes.home)
    return true;
  const [row] = await queryOutsideOrg(
    nodes.home.pool,
    sql<{ is_own: boolean }>`select app.claim_slug(${orgId}::uuid, ${wanted}, ${has}) as is_own`,
  );
  return row?.is_own === true;
}

/** Tells the primary server that an organization was removed from this server. */
export async function removePlacement(node: Node, orgId: string): Promise<void> {
  const nodes = nodesOf(node.pool);
  if (nodes === undefined) return;
  await queryOutsideOrg(nodes.home.pool, sql`select app.forget_place(${orgId}::uuid, ${node.name})`);
}
