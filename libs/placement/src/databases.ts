/**
 * Provides access to the databases of an installation. `databaseFor` runs work on the server of an
 * organization. The other functions serve work that concerns several organizations, or an organization that
 * is not known yet.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { DatabaseAway, DatabaseBusy, type Pool } from '@muster/driver';
import {
  type AllNodes,
  type AskHome,
  asksAgainMillis,
  connectNodes,
  homeName,
  isElsewhere,
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
  readonly isLookedUp?: boolean;
  /**
   * The SQLSTATE of a server that does not know the record that the work names. The record may have moved
   * with its organization.
   */
  readonly unknown?: string;
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
  readonly isOn: (node: Node) => Promise<boolean>;
}

/** Returns the database of an organization. `pool` may belong to any server of the installation. */
export function databaseFor(pool: Pool, orgId: string): OrganizationDatabase {
  const nodes = nodesOf(pool);
  if (nodes === undefined) return { run: (work) => work({ pool, isGone: false }), isOn: async () => true };
  return {
    run: async (work, { isLookedUp = false, unknown } = {}) => {
      if (isLookedUp) await nodes.find([orgId], 0);
      return nodes.at(orgId, work, unknown === undefined ? {} : { unknown });
    },
    isOn: async (node) => (await nodes.find([orgId], 0)).get(orgId) === node,
  };
}

/** True if the installation has servers besides the primary one. */
export const hasNodes = (pool: Pool): boolean => nodesOf(pool) !== undefined;

/** Returns every server of the installation, the primary one first. */
export const allNodes = (pool: Pool): AllNodes => nodesOf(pool)?.all ?? [{ name: homeName, pool }];

/** Joins servers into one installation. From then on, each of the pools finds the others. */
export const joinNodes = (home: Pool, others: readonly Node[]): AllNodes => connectNodes(home, others).all;

/** Groups the items by the server of their organization. */
export async function groupByNode<Item>(
  pool: Pool,
  items: readonly Item[],
  orgOf: (item: Item) => string,
  maxAgeMillis: number,
): Promise<ReadonlyMap<Pool, readonly Item[]>> {
  const nodes = nodesOf(pool);
  if (nodes === undefined) return new Map([[pool, items]]);
  const places = await nodes.find(items.map(orgOf), maxAgeMillis);
  const byNode = new Map<Pool, Item[]>();
  // `muster admin` also runs on Node 20, which has no Map.groupBy.
  for (const item of items) {
    const node = places.get(orgOf(item));
    if (node === undefined) continue;
    const group = byNode.get(node.pool);
    if (group === undefined) byNode.set(node.pool, [item]);
    else group.push(item);
  }
  return byNode;
}

/** Resolves when all promises are settled. Rejects with the error of the first one that failed. */
export async function everyOne(all: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(all)).find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Processes the items one after the other. A failure does not stop the others; it is thrown at the end. */
export async function eachInTurn<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const faults: unknown[] = [];
  for (const item of items)
    await work(item).catch((error: unknown) => {
      faults.push(error);
    });
  if (faults.length === 1) throw faults[0];
  if (faults.length > 1) throw new AggregateError(faults, `it failed ${faults.length} times`);
}

/** Runs the work on every server, one after the other. */
export const forEachNode = (pool: Pool, work: (at: Node) => Promise<void>): Promise<void> =>
  eachInTurn(allNodes(pool), work);

/**
 * Looks for something that only one server can know, and returns the first result. The primary server is
 * asked first, then all others at the same time. Returns undefined if all servers have nothing. If some did
 * not answer, it throws their error.
 */
export async function findOnNodes<Found>(
  pool: Pool,
  find: (at: Pool) => Promise<Found | undefined>,
  orgOf: (found: Found) => string,
  atHome?: AskHome,
): Promise<Found | undefined> {
  const nodes = nodesOf(pool);
  if (nodes === undefined) return find(pool);
  /** Ignores the leftovers of an organization that has moved away from the server. */
  const findAt = async (node: Node): Promise<Found | undefined> => {
    const found = await nodes.visit(node, () => find(node.pool));
    if (found === undefined) return undefined;
    const orgId = orgOf(found);
    const isHere = async (maxAge: number) => (await nodes.find([orgId], maxAge, atHome)).get(orgId) === node;
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
const mostLooks = 100;

/**
 * Runs the work on the server that knows what the work names; all others throw `unknown`. If no server knows
 * it and one did not answer, throws that server's error.
 */
export async function runWhereKnown<Result>(
  pool: Pool,
  unknown: string,
  work: (at: Pool) => Promise<Result>,
): Promise<Result> {
  const nodes = nodesOf(pool);
  if (nodes === undefined) return work(pool);
  for (let looks = 1; ; looks += 1) {
    const faults: unknown[] = [];
    for (const node of nodes.all) {
      try {
        return await nodes.visit(node, () => work(node.pool));
      } catch (error) {
        const isUnknown = sqlStateOf(error) === unknown;
        const isAway = error instanceof DatabaseAway || error instanceof DatabaseBusy;
        if (!isUnknown && !isAway && !isElsewhere(error)) throw error;
        // Throws `unknown` only if every server has thrown it. Any other error goes to the front of the list
        // and takes precedence.
        if (isUnknown) faults.push(error);
        else faults.unshift(error);
      }
    }
    if (!faults.some(isElsewhere) || looks === mostLooks) throw faults[0];
    await pause(asksAgainMillis);
  }
}
