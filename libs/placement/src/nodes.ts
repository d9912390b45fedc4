/**
 * Organizations on servers of their own. The server at DATABASE_URL is home: it has organizations too, and says where the
 * others are. A pool that has no nodes is all there is, and nothing here asks anything.
 *
 * Where an organization is, is remembered. The server that it left refuses it (MU421, functions/nodes.sql), so a process
 * that remembers wrongly asks home again: nothing is written to a place that is over.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ask, BurstError, DatabaseAway, type Pool, type Query, sql } from '@muster/driver';

export const homeName = 'home';

export interface Node {
  readonly name: string;
  readonly pool: Pool;
}

/** Every server of the installation, home first. */
export type AllNodes = readonly [home: Node, ...others: Node[]];

/** Where organizations are, and how to reach them; nothing outside of this library uses it. */
export interface Nodes {
  readonly home: Node;
  /** Home first. */
  readonly all: AllNodes;
  /** Runs the work at the organization's node, again at another one where it has moved meanwhile. */
  readonly at: <Result>(
    orgId: string,
    work: (place: Place) => Promise<Result>,
    asking?: Asking,
  ) => Promise<Result>;
  /** Where organizations are, by what was known so many milliseconds ago at most; where home does not answer, by what was known. */
  readonly find: (
    orgIds: readonly string[],
    maxAgeMillis: number,
    atHome?: AskHome,
  ) => Promise<ReadonlyMap<string, Node>>;
  /** Asks a server, unless it gave no connection a moment ago: then it throws DatabaseAway at once. */
  readonly visit: <Result>(node: Node, run: () => Promise<Result>) => Promise<Result>;
}

/** How home is asked by a caller that has a transaction there: in that one, since another connection may not be free. */
export type AskHome = <Row>(query: Query<Row>) => Promise<Row[]>;

export interface Asking {
  readonly atHome?: AskHome | undefined;
  /** The SQLSTATE of a server that knows nothing of what the work names, perhaps since it went with its organization. */
  readonly unknown?: string;
}

export interface Place {
  readonly pool: Pool;
  /** It is there, says home, though the server knows nothing of it: it was removed. */
  readonly isGone: boolean;
}

interface Known {
  readonly node: Node;
  readonly isMoving: boolean;
  readonly at: number;
}

/** SQLSTATE of a server that an organization is not at. */
const elsewhere = 'MU421';
/** A token that is there no more may have gone with its organization. */
const unknownToken = 'MU401';
/** So long a call waits for an organization that is between two servers. */
const waitsMillis = 4_000;
export const asksAgainMillis = 25;
/** A server that gave no connection is not asked for one again for so long: its callers hold no place meanwhile. */
const restMillis = 500;
/** Longer than a connection may take. */
const triesMillis = 1_500;
const mostRemembered = 200_000;

const registered = new WeakMap<Pool, Nodes>();

/** The nodes that a pool is one of, home among them; undefined where there are none. */
export const nodesOf = (pool: Pool): Nodes | undefined => registered.get(pool);

export const sqlStateOf = (error: unknown): string | undefined =>
  error instanceof BurstError ? error.sqlState : undefined;

export const isElsewhere = (error: unknown): boolean => sqlStateOf(error) === elsewhere;

/** Where organizations are, as far as this process remembers; what it does not, home says. */
function rememberPlaces(home: Pool, all: readonly Node[]) {
  const byName = new Map(all.map((node) => [node.name, node]));
  const known = new Map<string, Known>();

  const askHome = async (
    orgIds: readonly string[],
    atHome: AskHome = (query) => ask(home, query),
  ): Promise<void> => {
    const rows = await atHome(
      sql<{
        org_id: string;
        node: string;
        is_moving: boolean;
      }>`select org_id, node, is_moving from app.places_of(${orgIds}::uuid[])`,
    );
    const places = new Map(rows.map((row) => [row.org_id, row]));
    if (known.size + orgIds.length > mostRemembered) known.clear();
    const at = performance.now();
    for (const orgId of orgIds) {
      const place = places.get(orgId);
      const node = byName.get(place?.node ?? homeName);
      if (node === undefined) known.delete(orgId);
      else known.set(orgId, { node, isMoving: place?.is_moving ?? false, at });
    }
  };

  const look = async (orgId: string, atHome?: AskHome): Promise<Known> => {
    if (!known.has(orgId)) await askHome([orgId], atHome);
    const found = known.get(orgId);
    if (found === undefined)
      throw new DatabaseAway(new Error('home names a node that DATABASE_NODES does not have'));
    return found;
  };

  const find: Nodes['find'] = async (orgIds, maxAgeMillis, atHome) => {
    const since = performance.now() - maxAgeMillis;
    const old = [...new Set(orgIds)].filter((orgId) => (known.get(orgId)?.at ?? -Infinity) < since);
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

  return { askHome, look, find };
}

/** Visits a node, unless that one gave no connection a moment ago; then one call tries it. */
function letAwayNodesRest(): Nodes['visit'] {
  const restsUntil = new Map<Node, number>();
  return async <Result>(node: Node, run: () => Promise<Result>): Promise<Result> => {
    const rests = restsUntil.get(node);
    if (rests !== undefined) {
      if (performance.now() < rests) throw new DatabaseAway(new Error(`${node.name} is away`));
      restsUntil.set(node, performance.now() + triesMillis);
    }
    try {
      const result = await run();
      restsUntil.delete(node);
      return result;
    } catch (error) {
      if (error instanceof DatabaseAway) restsUntil.set(node, performance.now() + restMillis);
      else restsUntil.delete(node);
      throw error;
    }
  };
}

/** Makes servers of one installation: from now on each of the pools finds the others. */
export function connectNodes(home: Pool, others: readonly Node[]): Nodes {
  const homeNode: Node = { name: homeName, pool: home };
  const all: AllNodes = [homeNode, ...others];
  const { askHome, look, find } = rememberPlaces(home, all);
  const visit = letAwayNodesRest();

  const nodes: Nodes = {
    home: homeNode,
    all,
    visit,
    at: async (orgId, work, { atHome, unknown = unknownToken } = {}) => {
      const until = performance.now() + waitsMillis;
      let place = await look(orgId, atHome);
      let isGone = false;
      for (;;) {
        const { node } = place;
        try {
          return await visit(node, () => work({ pool: node.pool, isGone }));
        } catch (error) {
          const sqlState = sqlStateOf(error);
          if (sqlState !== elsewhere && sqlState !== unknown) throw error;
          await askHome([orgId], atHome);
          const now = await look(orgId, atHome);
          if (now.node === node) {
            if (sqlState === unknown) throw error;
            if (!now.isMoving) {
              if (isGone) throw error;
              isGone = true;
            }
          }
          if (performance.now() > until) throw error;
          if (now.isMoving) await pause(asksAgainMillis);
          place = now;
        }
      }
    },
    find,
  };
  for (const { pool } of all) registered.set(pool, nodes);
  return nodes;
}
