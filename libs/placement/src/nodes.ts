/**
 * Finds the servers of organizations. The server at DATABASE_URL is the primary one, named home. It hosts
 * organizations, too, and knows the servers of all others. A pool without other servers is the whole
 * installation, and nothing here queries anything.
 *
 * Each process caches where organizations are. A server that an organization has left refuses its calls
 * (MU421, functions/nodes.sql). A process with an outdated placement therefore asks the primary server again,
 * and nothing is written to the old server.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { queryOutsideOrg, BurstError, DatabaseAway, type Pool, type Query, sql } from '@muster/driver';

export const homeNodeName = 'home';

export interface Node {
  readonly name: string;
  readonly pool: Pool;
}

/** Every server of the installation, the primary one first. */
export type AllNodes = readonly [home: Node, ...others: Node[]];

/** The placements of organizations and the pools of their servers. Used only inside this library. */
export interface Nodes {
  readonly home: Node;
  /** All servers, the primary one first. */
  readonly all: AllNodes;
  /**
   * Runs the work on the organization's server, and again on another one if the organization has moved in the
   * meantime.
   */
  readonly runForOrganization: <Result>(
    orgId: string,
    work: (place: NodeAccess) => Promise<Result>,
    asking?: LookupOptions,
  ) => Promise<Result>;
  /**
   * Finds the servers of organizations. Cached placements are used up to this age in milliseconds, or of any
   * age if the primary server does not answer.
   */
  readonly findNodes: (
    orgIds: readonly string[],
    maxAgeMillis: number,
    atHome?: QueryPrimaryServer,
  ) => Promise<ReadonlyMap<string, Node>>;
  /**
   * Runs a request to a server. Throws DatabaseAway immediately if the server refused a connection a moment
   * ago.
   */
  readonly runOnNode: <Result>(node: Node, run: () => Promise<Result>) => Promise<Result>;
}

/**
 * Queries the primary server in a transaction that the caller already has there, since a second connection
 * may not be free.
 */
export type QueryPrimaryServer = <Row>(query: Query<Row>) => Promise<Row[]>;

export interface LookupOptions {
  readonly queryHome?: QueryPrimaryServer | undefined;
  /**
   * The SQLSTATE of a server that does not know what the work names. It may have moved with its organization.
   */
  readonly unknownSqlState?: string;
}

export interface NodeAccess {
  readonly pool: Pool;
  /**
   * True if the primary server names this server, but the server does not know the organization: it was
   * removed.
   */
  readonly isOrganizationDeleted: boolean;
}

interface CachedPlacement {
  readonly node: Node;
  readonly isMoving: boolean;
  readonly cachedAtMillis: number;
}

/** SQLSTATE of a server that does not host the organization. */
const hostedElsewhereSqlState = 'MU421';
/** SQLSTATE for an unknown token. It may have moved with its organization. */
const unknownTokenSqlState = 'MU401';
/** The maximum time that a call waits for an organization that is moving between servers, in milliseconds. */
const maxMoveWaitMillis = 4_000;
export const lookupRetryDelayMillis = 25;
/**
 * The delay before a server that gave no connection is asked again, in milliseconds. Until then its callers
 * fail without occupying a slot.
 */
const unreachableNodeDelayMillis = 500;
/** The time reserved for one connection attempt, in milliseconds. It exceeds the connection timeout. */
const connectAttemptMillis = 1_500;
const maxCachedPlacements = 200_000;

const nodesByPool = new WeakMap<Pool, Nodes>();

/** Returns the servers of the pool's installation; undefined if the pool's server is the only one. */
export const nodesOf = (pool: Pool): Nodes | undefined => nodesByPool.get(pool);

export const sqlStateOf = (error: unknown): string | undefined =>
  error instanceof BurstError ? error.sqlState : undefined;

export const isHostedElsewhere = (error: unknown): boolean => sqlStateOf(error) === hostedElsewhereSqlState;

/** Caches the placements of organizations, and asks the primary server for the missing ones. */
function createPlacementCache(home: Pool, all: readonly Node[]) {
  const byName = new Map(all.map((node) => [node.name, node]));
  const known = new Map<string, CachedPlacement>();

  const askHome = async (
    orgIds: readonly string[],
    atHome: QueryPrimaryServer = (query) => queryOutsideOrg(home, query),
  ): Promise<void> => {
    const rows = await atHome(
      sql<{
        org_id: string;
        node: string;
        is_moving: boolean;
      }>`select org_id, node, is_moving from app.places_of(${orgIds}::uuid[])`,
    );
    const places = new Map(rows.map((row) => [row.org_id, row]));
    if (known.size + orgIds.length > maxCachedPlacements) known.clear();
    const at = performance.now();
    for (const orgId of orgIds) {
      const place = places.get(orgId);
      const node = byName.get(place?.node ?? homeNodeName);
      if (node === undefined) known.delete(orgId);
      else known.set(orgId, { node, isMoving: place?.is_moving ?? false, cachedAtMillis: at });
    }
  };

  const findPlacement = async (orgId: string, queryHome?: QueryPrimaryServer): Promise<CachedPlacement> => {
    if (!known.has(orgId)) await askHome([orgId], queryHome);
    const found = known.get(orgId);
    if (found === undefined)
      throw new DatabaseAway(
        new Error('the primary server names a node that is missing from DATABASE_NODES'),
      );
    return found;
  };

  const find: Nodes['findNodes'] = async (orgIds, maxAgeMillis, atHome) => {
    const since = performance.now() - maxAgeMillis;
    const old = [...new Set(orgIds)].filter(
      (orgId) => (known.get(orgId)?.cachedAtMillis ?? -Infinity) < since,
    );
    if (old.length > 0)
      await askHome(old, atHome).catch((error: unknown) => {
        if (old.some((orgId) => !known.has(orgId))) throw error;
      });
    const found = new Map<string, Node>();
    for (const orgId of orgIds) {
      const node = known.get(orgId)?.node;
      if (node !== undefined) found.set(orgId, node);
    }
    return found;
  };

  return { askHome, look: findPlacement, find };
}

/**
 * Runs a request to a server. After a failed connection only one call retries; the others fail until the
 * delay has passed.
 */
function createUnreachableNodeGuard(): Nodes['runOnNode'] {
  const restsUntil = new Map<Node, number>();
  return async <Result>(node: Node, run: () => Promise<Result>): Promise<Result> => {
    const blockedUntilMillis = restsUntil.get(node);
    if (blockedUntilMillis !== undefined) {
      if (performance.now() < blockedUntilMillis)
        throw new DatabaseAway(new Error(`${node.name} is unavailable`));
      restsUntil.set(node, performance.now() + connectAttemptMillis);
    }
    try {
      const result = await run();
      restsUntil.delete(node);
      return result;
    } catch (error) {
      if (error instanceof DatabaseAway) restsUntil.set(node, performance.now() + unreachableNodeDelayMillis);
      else restsUntil.delete(node);
      throw error;
    }
  };
}

/** Joins servers into one installation. From then on, each of the pools finds the others. */
export function connectNodes(home: Pool, others: readonly Node[]): Nodes {
  const homeNode: Node = { name: homeNodeName, pool: home };
  const all: AllNodes = [homeNode, ...others];
  const { askHome, look, find } = createPlacementCache(home, all);
  const runOnReachableNode = createUnreachableNodeGuard();

  const nodes: Nodes = {
    home: homeNode,
    all,
    runOnNode: runOnReachableNode,
    runForOrganization: async (orgId, work, { queryHome, unknownSqlState = unknownTokenSqlState } = {}) => {
      const until = performance.now() + maxMoveWaitMillis;
      let place = await look(orgId, queryHome);
      let isGone = false;
      for (;;) {
        const { node } = place;
        try {
          return await runOnReachableNode(node, () =>
            work({ pool: node.pool, isOrganizationDeleted: isGone }),
          );
        } catch (error) {
          const sqlState = sqlStateOf(error);
          if (sqlState !== hostedElsewhereSqlState && sqlState !== unknownSqlState) throw error;
          await askHome([orgId], queryHome);
          const now = await look(orgId, queryHome);
          if (now.node === node) {
            if (sqlState === unknownSqlState) throw error;
            if (!now.isMoving) {
              if (isGone) throw error;
              isGone = true;
            }
          }
          if (performance.now() > until) throw error;
          if (now.isMoving) await pause(lookupRetryDelayMillis);
          place = now;
        }
      }
    },
    findNodes: find,
  };
  for (const { pool } of all) nodesByPool.set(pool, nodes);
  return nodes;
}
