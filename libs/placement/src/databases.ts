/**
 * Provides access to the databases of an installation. `databaseFor` runs work on the server of an
 * organization. The other functions serve work that concerns several organizations, or an organization that
 * is not known yet.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { DatabaseAway, DatabaseBusy, type Pool } from '@muster/driver';
import {
  type AllNodes,
  type QueryPrimaryServer,
  lookupRetryDelayMillis,
  connectNodes,
  homeNodeName,
  isHostedElsewhere,
  type Node,
  nodesOf,
  type NodeAccess,
  sqlStateOf,
} from './nodes.ts';

export interface DatabaseRunOptions {
  /**
   * If true, asks the primary server for the organization's placement first. Needed for work that a server
   * would not refuse after the organization has left it.
   */
  readonly looksUpPlacement?: boolean;
  /**
   * The SQLSTATE of a server that does not know the record that the work names. The record may have moved
   * with its organization.
   */
  readonly unknownSqlState?: string;
}

/** The database of one organization, on whichever server that is. */
export interface OrganizationDatabase {
  /**
   * Runs the work on the organization's server, and again on its new server if the organization has moved.
   * Throws the work's error.
   */
  readonly run: <Result>(
    work: (place: NodeAccess) => Promise<Result>,
    options?: DatabaseRunOptions,
  ) => Promise<Result>;
  /** True if this server currently has the organization. */
  readonly isHostedOn: (node: Node) => Promise<boolean>;
}

/** Returns the database of an organization. `pool` may belong to any server of the installation. */
export function databaseFor(pool: Pool, orgId: string): OrganizationDatabase {
  const nodes = nodesOf(pool);
  if (nodes === undefined)
    return { run: (work) => work({ pool, isOrganizationDeleted: false }), isHostedOn: async () => true };
  return {
    run: async (work, { looksUpPlacement = false, unknownSqlState } = {}) => {
      if (looksUpPlacement) await nodes.findNodes([orgId], 0);
      return nodes.runForOrganization(orgId, work, unknownSqlState === undefined ? {} : { unknownSqlState });
    },
    isHostedOn: async (node) => (await nodes.findNodes([orgId], 0)).get(orgId) === node,
  };
}

/** True if the installation has servers besides the primary one. */
export const hasOtherNodes = (pool: Pool): boolean => nodesOf(pool) !== undefined;

/** Returns every server of the installation, the primary one first. */
export const allNodes = (pool: Pool): AllNodes => nodesOf(pool)?.all ?? [{ name: homeNodeName, pool }];

/** Joins servers into one installation. From then on, each of the pools finds the others. */
export const joinNodes = (home: Pool, others: readonly Node[]): AllNodes => connectNodes(home, others).all;

/** Groups the items by the server of their organization. */
export async function groupByNode<Item>(
  pool: Pool,
  items: readonly Item[],
  orgIdOf: (item: Item) => string,
  maxAgeMillis: number,
): Promise<ReadonlyMap<Pool, readonly Item[]>> {
  const nodes = nodesOf(pool);
  if (nodes === undefined) return new Map([[pool, items]]);
  const places = await nodes.findNodes(items.map(orgIdOf), maxAgeMillis);
  const byNode = new Map<Pool, Item[]>();
  // `muster admin` also runs on Node 20, which has no Map.groupBy.
  for (const item of items) {
    const node = places.get(orgIdOf(item));
    if (node === undefined) continue;
    const group = byNode.get(node.pool);
    if (group === undefined) byNode.set(node.pool, [item]);
    else group.push(item);
  }
  return byNode;
}

/** Resolves when all promises are settled. Rejects with the error of the first one that failed. */
export async function awaitAll(promises: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(promises)).find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Processes the items one after the other. A failure does not stop the others; it is thrown at the end. */
export async function forEachInSequence<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const faults: unknown[] = [];
  for (const item of items)
    await work(item).catch((error: unknown) => {
      faults.push(error);
    });
  if (faults.length === 1) throw faults[0];
  if (faults.length > 1) throw new AggregateError(faults, `${faults.length} items failed`);
}

/** Runs the work on every server, one after the other. */
export const forEachNode = (pool: Pool, work: (at: Node) => Promise<void>): Promise<void> =>
  forEachInSequence(allNodes(pool), work);

/**
 * Looks for something that only one server can know, and returns the first result. The primary server is
 * asked first, then all others at the same time. Returns undefined if all servers have nothing. If some did
 * not answer, it throws their error.
 */
export async function findOnNodes<Found>(
  pool: Pool,
  find: (at: Pool) => Promise<Found | undefined>,
  orgIdOf: (found: Found) => string,
  queryHome?: QueryPrimaryServer,
): Promise<Found | undefined> {
  const nodes = nodesOf(pool);
  if (nodes === undefined) return find(pool);
  /** Ignores the leftovers of an organization that has moved away from the server. */
  const findAt = async (node: Node): Promise<Found | undefined> => {
    const found = await nodes.runOnNode(node, () => find(node.pool));
    if (found === undefined) return undefined;
    const orgId = orgIdOf(found);
    const isHere = async (maxAge: number) =>
      (await nodes.findNodes([orgId], maxAge, queryHome)).get(orgId) === node;
    return (await isHere(Infinity)) || (await isHere(0)) ? found : undefined;
  };
  const faults: unknown[] = [];
  const settled = (node: Node): Promise<Found | undefined> =>
    findAt(node).catch((error: unknown) => {
      faults.push(error);
      return undefined;
    });
  const foundAtHome = await settled(nodes.home);
  if (foundAtHome !== undefined) return foundAtHome;
  const others = await Promise.all(nodes.all.filter((node) => node !== nodes.home).map(settled));
  const found = others.find((one) => one !== undefined);
  if (found === undefined && faults.length > 0) throw faults[0];
  return found;
}

/** The maximum number of attempts to find an organization that is moving between two servers. */
const maxLookupAttempts = 100;

/**
 * Runs the work on the servers, one after the other, until one of them knows the record that the work names.
 * The others throw an error with `unknownSqlState`. If no server knows the record and one did not answer,
 * throws that server's error.
 */
export async function runWhereKnown<Result>(
  pool: Pool,
  unknownSqlState: string,
  work: (at: Pool) => Promise<Result>,
): Promise<Result> {
  const nodes = nodesOf(pool);
  if (nodes === undefined) return work(pool);
  for (let looks = 1; ; looks += 1) {
    const faults: unknown[] = [];
    for (const node of nodes.all) {
      try {
        return await nodes.runOnNode(node, () => work(node.pool));
      } catch (error) {
        const isUnknown = sqlStateOf(error) === unknownSqlState;
        const isAway = error instanceof DatabaseAway || error instanceof DatabaseBusy;
        if (!isUnknown && !isAway && !isHostedElsewhere(error)) throw error;
        // Throws the error of an unknown record only if every server has thrown it. Any other error goes to the
        // front of the list and takes precedence.
        if (isUnknown) faults.push(error);
        else faults.unshift(error);
      }
    }
    if (!faults.some(isHostedElsewhere) || looks === maxLookupAttempts) throw faults[0];
    await pause(lookupRetryDelayMillis);
  }
}
