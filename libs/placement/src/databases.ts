/**
 * The databases of an installation as the rest of the product sees them: `databaseFor` runs work on the server that has an
 * organization, and the other functions are for work that concerns several organizations, or one that is not known yet.
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
  type Place,
  sqlStateOf,
} from './nodes.ts';

export interface RunOptions {
  /** Asks home where the organization is first: for work that a server does not refuse after the organization left it. */
  readonly isLookedUp?: boolean;
  /** The SQLSTATE of a server that does not know the record that the work names. It may have left with its organization. */
  readonly unknown?: string;
}

/** The database of one organization, on whichever server that is. */
export interface OrganizationDatabase {
  /** Runs the work there, and again on the new server if the organization has moved. Throws what the work throws. */
  readonly run: <Result>(work: (place: Place) => Promise<Result>, options?: RunOptions) => Promise<Result>;
  /** True if this server has the organization now. */
  readonly isOn: (node: Node) => Promise<boolean>;
}

/** `pool` is that of any server of the installation. */
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

/** True if the installation has other servers than home. */
export const hasNodes = (pool: Pool): boolean => nodesOf(pool) !== undefined;

/** Every server of the installation, home first. */
export const allNodes = (pool: Pool): AllNodes => nodesOf(pool)?.all ?? [{ name: homeName, pool }];

/** Makes servers of one installation: from now on each of the pools finds the others. */
export const joinNodes = (home: Pool, others: readonly Node[]): AllNodes => connectNodes(home, others).all;

/** The items, by the server that their organization is at. */
export async function groupByNode<Item>(
  pool: Pool,
  items: readonly Item[],
  orgOf: (item: Item) => string,
  maxAgeMillis: number,
): Promise<ReadonlyMap<Pool, readonly Item[]>> {
  const nodes = nodesOf(pool);
  if (nodes === undefined) return new Map([[pool, items]]);
  const places = await nodes.find(items.map(orgOf), maxAgeMillis);
  const known = items.filter((item) => places.has(orgOf(item)));
  return Map.groupBy(known, (item) => places.get(orgOf(item))?.pool ?? pool);
}

/** Resolves when all are settled; throws what the first threw that failed. */
export async function everyOne(all: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(all)).find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Does the work with each, one after the other. What fails with one holds up no other; it is thrown when all had their turn. */
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

/** Does the work at every server in turn. */
export const forEachNode = (pool: Pool, work: (at: Node) => Promise<void>): Promise<void> =>
  eachInTurn(allNodes(pool), work);

/**
 * Asks every server for what only one can know, and answers what the first says that has it: home, then all others at once.
 * Undefined where all say that they have nothing; where some did not answer, what those threw.
 */
export async function findOnNodes<Found>(
  pool: Pool,
  find: (at: Pool) => Promise<Found | undefined>,
  orgOf: (found: Found) => string,
  atHome?: AskHome,
): Promise<Found | undefined> {
  const nodes = nodesOf(pool);
  if (nodes === undefined) return find(pool);
  /** What a server has of an organization that left it counts for nothing. */
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

/** So often all servers are asked for an organization that is between two of them. */
const mostLooks = 100;

/**
 * Does the work at the server that knows what it names, where all others throw `unknown`. Where one did not answer, and none
 * of the others knows it, what that one threw.
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
        // That there is none counts only where all say so.
        if (isUnknown) faults.push(error);
        else faults.unshift(error);
      }
    }
    if (!faults.some(isElsewhere) || looks === mostLooks) throw faults[0];
    await pause(asksAgainMillis);
  }
}
