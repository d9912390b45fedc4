/** The database servers of organizations, as operators manage them. */
import { type Pool, sql } from '@muster/driver';
import {
  allNodes,
  CannotMoveError,
  databaseBytes,
  hasOtherNodes,
  homeNodeName,
  type MoveResult,
  moveOrganization,
} from '@muster/placement';
import { findOrganizationNode, missingRecordError, runAsOperator } from './operate.ts';
import { requireDatabaseNode } from './organizations.ts';

export interface NodeSummary {
  readonly name: string;
  /** The state of the server. `away` means that it does not answer; then the other figures are null. */
  readonly state: 'ok' | 'away';
  readonly organizations: number | null;
  readonly bytes: number | null;
  /** True if new organizations may be placed on this server. */
  readonly takesNew: boolean;
}

/**
 * A move of an organization that is in progress or was interrupted. Repeating the same command continues it.
 */
export interface OrganizationMove {
  readonly orgId: string;
  readonly from: string;
  readonly to: string;
  readonly step: 'copying' | 'removing';
}

export interface NodesOverview {
  readonly nodes: readonly NodeSummary[];
  readonly moves: readonly OrganizationMove[];
}

interface OrganizationPlacementRow {
  readonly org_id: string;
  readonly node: string;
  readonly moving_to: string | null;
  readonly left_from: string | null;
}

/** Lists all servers, the primary server first. Throws if the primary server does not answer. */
export async function listNodes(pool: Pool): Promise<NodesOverview> {
  const [places, closed] = await runAsOperator(pool, async (db) => [
    await db.all(
      sql<OrganizationPlacementRow>`select org_id, node, moving_to, left_from from app.org_places`,
    ),
    await db.all(sql<{ node: string }>`select node from app.closed_nodes`),
  ]);
  const nodes = await Promise.all(
    allNodes(pool).map(async ({ name, pool: at }): Promise<NodeSummary> => {
      const takesNew = closed.every(({ node }) => node !== name);
      try {
        const [bytes, there] = await Promise.all([
          databaseBytes(at),
          runAsOperator(at, (db) => db.all(sql<{ id: string }>`select id from orgs`)),
        ]);
        const placed = new Map(places.map((place) => [place.org_id, place.node]));
        const organizations = there.filter(({ id }) => (placed.get(id) ?? homeNodeName) === name).length;
        return { name, state: 'ok', organizations, bytes, takesNew };
      } catch {
        return { name, state: 'away', organizations: null, bytes: null, takesNew };
      }
    }),
  );
  const moves = places.flatMap(
    ({ org_id: orgId, node, moving_to: to, left_from: from }): OrganizationMove[] => {
      if (to !== null) return [{ orgId, from: node, to, step: 'copying' }];
      return from === null ? [] : [{ orgId, from, to: node, step: 'removing' }];
    },
  );
  return { nodes, moves };
}

/** Sets whether new organizations may be placed on a server if the operator names none. */
export async function setNodeAcceptsOrganizations(
  pool: Pool,
  name: string,
  takesNew: boolean,
): Promise<void> {
  const node = requireDatabaseNode(pool, name);
  await runAsOperator(pool, (db) =>
    db.all(
      takesNew
        ? sql`delete from app.closed_nodes where node = ${node.name}`
        : sql`insert into app.closed_nodes (node) values (${node.name}) on conflict do nothing`,
    ),
  );
}

/**
 * Moves an organization to another server. Returns undefined if the organization is on that server already.
 * Throws CannotMoveError if the move is impossible.
 */
export async function moveOrganizationToNode(
  pool: Pool,
  { org: slug, to, fromUrl }: { readonly org: string; readonly to: string; readonly fromUrl?: string },
  onStep: (step: string) => void,
): Promise<MoveResult | undefined> {
  if (!hasOtherNodes(pool))
    throw new CannotMoveError('DATABASE_NODES is not set, so there is only one database server');
  const node = requireDatabaseNode(pool, to);
  const found = await findOrganizationNode(pool, slug);
  if (found === undefined) throw missingRecordError(`organization "${slug}"`);
  return moveOrganization(allNodes(pool), { orgId: found.id, to: node, fromUrl }, { onStep });
}
