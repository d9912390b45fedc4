/**
 * Organizations on servers of their own. The server at DATABASE_URL is home: it has organizations too, and says where the
 * others are. A pool that has no nodes is all there is, and nothing here asks anything.
 *
 * Where an organization is, is remembered. The server that it left refuses it (MU421, functions/nodes.sql), so a process
 * that remembers wrongly asks home again: nothing is written to a place that is over.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ask, BurstError, DatabaseAway, DatabaseBusy, type Pool, type Query, sql } from '@muster/driver';

export const homeName = 'home';

export interface Node {
  readonly name: string;
  readonly pool: Pool;
}

export interface Nodes {
  readonly home: Node;
  /** Home first. */
  readonly all: readonly Node[];
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
const asksAgainMillis = 25;
/** A server that gave no connection is not asked for one again for so long: its callers hold no place meanwhile. */
const restMillis = 500;
/** Longer than a connection may take. */
const triesMillis = 1_500;
const mostRemembered = 200_000;

const registered = new WeakMap<Pool, Nodes>();

/** The nodes that a pool is one of, home among them; undefined where there are none. */
export const nodesOf = (pool: Pool): Nodes | undefined => registered.get(pool);

/** Every server of the installation: home, and its nodes. */
export const everyNode = (pool: Pool): readonly Node[] => nodesOf(pool)?.all ?? [{ name: homeName, pool }];

const sqlStateOf = (error: unknown): string | undefined =>
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
export function joinNodes(home: Pool, others: readonly Node[]): Nodes {
  const homeNode: Node = { name: homeName, pool: home };
  const all = [homeNode, ...others];
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

/** Runs the work where the organization is; at the pool itself where there are no nodes. */
export function atNode<Result>(
  pool: Pool,
  orgId: string,
  work: (place: Place) => Promise<Result>,
  asking?: Asking,
): Promise<Result> {
  const nodes = nodesOf(pool);
  return nodes === undefined ? work({ pool, isGone: false }) : nodes.at(orgId, work, asking);
}

/** The same for work that is not refused at a server which knows nothing of the organization any more: home is asked first. */
export async function atNodeOfNow<Result>(
  pool: Pool,
  orgId: string,
  work: (place: Place) => Promise<Result>,
  asking?: Asking,
): Promise<Result> {
  await nodesOf(pool)?.find([orgId], 0);
  return atNode(pool, orgId, work, asking);
}

/** The items, by the server that their organization is at. */
export async function byNode<Item>(
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
export const atEachNode = (pool: Pool, work: (at: Node) => Promise<void>): Promise<void> =>
  eachInTurn(everyNode(pool), work);

/**
 * Asks every server for what only one can know, and answers what the first says that has it: home, then all others at once.
 * Undefined where all say that they have nothing; where some did not answer, what those threw.
 */
export async function askEvery<Found>(
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

/** Says at home that an organization is no more that was removed from this server. */
export async function forgetPlace(at: Node, orgId: string): Promise<void> {
  const nodes = nodesOf(at.pool);
  if (nodes === undefined) return;
  await ask(nodes.home.pool, sql`select app.forget_place(${orgId}::uuid, ${at.name})`);
}

/** So often all servers are asked for an organization that is between two of them. */
const mostLooks = 100;

/**
 * Does the work at the server that knows what it names, where all others throw `unknown`. Where one did not answer, and none
 * of the others knows it, what that one threw.
 */
export async function atItsNode<Result>(
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

/** `a=postgres://…,b=postgres://…`, as DATABASE_NODES has it. Throws a sentence that repeats no address. */
export function parseNodes(text: string): readonly NodeAddress[] {
  const nodes = text
    .split(/[,\s]+(?=[a-z][a-z0-9-]*=)/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part, index): NodeAddress => {
      const [, name = '', url = ''] = /^([a-z][a-z0-9-]{0,30})=(postgres(?:ql)?:\/\/\S+)$/.exec(part) ?? [];
      if (name === '' || name === homeName || !URL.canParse(url))
        throw new Error(
          `its part ${index + 1} is no name (a-z, 0-9, -; not ${homeName}) with = and postgres://…`,
        );
      return { name, url };
    });
  if (new Set(nodes.map(({ name }) => name)).size < nodes.length) throw new Error('it names a node twice');
  return nodes;
}

export interface NodeAddress {
  readonly name: string;
  readonly url: string;
}
