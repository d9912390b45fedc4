/**
 * Moves an organization to another server while its people work. PostgreSQL's logical replication copies what is there, and follows
 * what they write meanwhile. Then the organization is closed for a moment: callers that come wait, those that write are let
 * finish, the last rows follow, and home says the new place. No write is lost or done twice: a write was either committed
 * before the organization was closed, and came along, or is refused there, and is done at the new place.
 *
 * Each step can be cut off: until home says the new place the organization is at the old one, and the next call undoes what
 * was begun; from then on it is at the new one, and the next call removes what was left at the old.
 */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type AllNodes, homeName, type Node } from '../nodes.ts';
import { CannotMove } from './cannot-move.ts';
import { beginGuarding, endGuarding } from './guarding.ts';
import {
  beginReplication,
  endReplication,
  hasFollowed,
  type Replication,
  waitUntilCopied,
} from './replicating.ts';
import { makeMonths, removeAll } from './rows.ts';
import { differenceOf, readTables } from './tables.ts';

export interface MoveSteps {
  readonly onStep?: (step: string) => void;
  /** For specs: what happens at the end of a step, which may throw. */
  readonly after?: (step: MoveStep) => Promise<void>;
}

export type MoveStep = 'following' | 'copied' | 'caught up' | 'closed' | 'switched';

export interface Moved {
  readonly from: string;
  readonly to: string;
  /** How long no caller got in. */
  readonly closedMillis: number;
  /** Rows that were removed at the old server, which is how many the organization has. */
  readonly rows: number;
}

/** How long one look lasts whether the new server has caught up. */
const followsWithinMillis = 5_000;
/** So long it may be closed; then it is open again, and closed once more later. */
const mostClosedMillis = 800;
const leastFollowMillis = 200;
const mostClosings = 20;
const opensForMillis = 1_000;

interface Place {
  readonly node: string;
  readonly moving_to: string | null;
  readonly left_from: string | null;
}

interface Moving extends MoveSteps {
  readonly home: pg.Client;
  /** Aborted when the connection to home is lost: from then on another move may begin. */
  readonly signal: AbortSignal;
  readonly orgId: string;
  readonly nodes: AllNodes;
  /** How the new server reaches the old one, where that is not the address that this process uses. */
  readonly fromUrl?: string | undefined;
}

/** Moves it. Throws CannotMove, or what a server threw: then it is where home says, and the same call goes on. */
export async function moveOrganization(
  nodes: AllNodes,
  {
    orgId,
    to,
    fromUrl,
  }: { readonly orgId: string; readonly to: Node; readonly fromUrl?: string | undefined },
  steps: MoveSteps = {},
): Promise<Moved | undefined> {
  const home = await connect(nodes[0]);
  const lost = new AbortController();
  home.on('error', () => {
    lost.abort(new CannotMove('the connection to home is lost'));
  });
  try {
    const { rows } = await home.query<{ mine: boolean }>(
      `select pg_try_advisory_lock(hashtextextended('moves', 0)) as mine`,
    );
    if (rows[0]?.mine !== true) throw new CannotMove('another organization is being moved');
    const moving: Moving = { ...steps, home, orgId, nodes, fromUrl, signal: lost.signal };
    const { node, moving_to: movingTo, left_from: leftFrom } = await placeOf(moving);
    const from = nodeNamed(nodes, node);
    const others = [movingTo, leftFrom].flatMap((name) => (name === null ? [] : nodeNamed(nodes, name)));
    return await holding(moving, [...new Set([from, to, ...others])], async (clients) => {
      await tidy(moving);
      const [source, target] = [clients.get(from), clients.get(to)];
      if (source === undefined || target === undefined || from === to) return undefined;
      return betweenTwo(moving, { node: from, client: source }, { node: to, client: target });
    });
  } finally {
    await home.end();
  }
}

/**
 * With a connection to each server, on which it alone moves the organization. Home's lock is gone with the connection to
 * home; the mover that had it then may still be at work here.
 */
async function holding<Result>(
  moving: Moving,
  [node, ...others]: readonly Node[],
  work: (clients: ReadonlyMap<Node, pg.Client>) => Promise<Result>,
): Promise<Result> {
  if (node === undefined) return work(new Map());
  return withMover(moving, node, async (client) => {
    const { rows } = await client.query<{ mine: boolean }>(
      `select pg_try_advisory_lock(hashtextextended('moves ' || $1, 0)) as mine`,
      [moving.orgId],
    );
    if (rows[0]?.mine !== true)
      throw new CannotMove(`an earlier move of the organization is still at work at ${node.name}`);
    return holding(moving, others, (clients) => work(new Map([...clients, [node, client]])));
  });
}

async function placeOf({ home, orgId }: Moving): Promise<Place> {
  const { rows } = await home.query<Place>(
    'select node, moving_to, left_from from app.org_places where org_id = $1',
    [orgId],
  );
  return rows[0] ?? { node: homeName, moving_to: null, left_from: null };
}

function nodeNamed(nodes: AllNodes, name: string): Node {
  const node = nodes.find((one) => one.name === name);
  if (node === undefined) throw new CannotMove(`DATABASE_NODES has no ${name}`);
  return node;
}

/** Undoes, or ends, what an earlier move left. */
async function tidy(moving: Moving): Promise<void> {
  const { nodes, orgId, home } = moving;
  const place = await placeOf(moving);
  if (place.moving_to !== null) {
    moving.onStep?.('undoing a move that was cut off');
    const [from, to] = [nodeNamed(nodes, place.node), nodeNamed(nodes, place.moving_to)];
    await withMover(moving, from, async (source) => {
      await open(source, orgId);
      await endGuarding(source, orgId);
      await withMover(moving, to, async (target) => {
        await endReplication({ from: source, to: target, orgId });
        await removeAll(target, orgId, await readTables(target));
        await target.query('delete from app.closed_orgs where org_id = $1', [orgId]);
      });
    });
    await home.query('update app.org_places set moving_to = null, changed_at = now() where org_id = $1', [
      orgId,
    ]);
    await forgetIfHome(moving);
  }
  if (place.left_from !== null) {
    moving.onStep?.('removing what an earlier move left');
    await withMover(moving, nodeNamed(nodes, place.node), (client) => open(client, orgId));
    await withMover(moving, nodeNamed(nodes, place.left_from), (client) => removeLeft(moving, client));
  }
}

interface End {
  readonly node: Node;
  readonly client: pg.Client;
}

async function betweenTwo(
  moving: Moving,
  { node: from, client: source }: End,
  { node: to, client: target }: End,
): Promise<Moved> {
  const { orgId, home } = moving;
  const tables = await readTables(source);
  const difference = differenceOf(tables, await readTables(target));
  if (difference !== undefined) throw new CannotMove(difference);
  const { rows: there } = await source.query('select from orgs where id = $1', [orgId]);
  if (there.length === 0) throw new CannotMove(`there is no organization ${orgId} at ${from.name}`);
  await home.query(
    `insert into app.org_places (org_id, node, moving_to) values ($1, $2, $3)
     on conflict (org_id) do update set moving_to = excluded.moving_to, changed_at = now()`,
    [orgId, from.name, to.name],
  );
  try {
    await makeMonths(source, target);
    // The worker of the new server leaves its rows alone until it is open there.
    await target.query('insert into app.closed_orgs (org_id) values ($1) on conflict do nothing', [orgId]);
    await beginGuarding(source, orgId, tables);
    const replication: Replication = { from: source, to: target, orgId };
    await beginReplication(replication, tables, moving.fromUrl ?? urlOf(from));
    await moving.after?.('following');
    return await followAndSwitch(moving, replication, from, to);
  } catch (error) {
    // Where home cannot be asked, the next call looks again.
    const isThere = await placeOf(moving).then(
      ({ node }) => node === from.name,
      () => false,
    );
    if (isThere) await tidy(moving).catch(() => undefined);
    throw error;
  }
}

async function followAndSwitch(
  moving: Moving,
  replication: Replication,
  from: Node,
  to: Node,
): Promise<Moved> {
  const { onStep, after } = moving;
  await waitUntilCopied(replication);
  onStep?.('what was there is copied');
  await after?.('copied');
  while (!(await hasFollowed(replication, followsWithinMillis))) {
    onStep?.('the new server is still behind');
    await waitUntilCopied(replication);
  }
  await after?.('caught up');
  for (let closing = 1; ; closing += 1) {
    const closedMillis = await closeAndSwitch(moving, replication, from, to);
    if (closedMillis !== undefined) {
      onStep?.(`it is at ${to.name}; it was closed for ${closedMillis} ms`);
      await after?.('switched');
      const rows = await removeLeft(moving, replication.from);
      return { from: from.name, to: to.name, closedMillis, rows };
    }
    if (closing === mostClosings) throw new CannotMove('a caller writes for longer than it may be closed');
    onStep?.('a caller writes for long; it is closed once more in a moment');
    await pause(opensForMillis);
  }
}

/**
 * Closes it, waits for the last rows, and has home say the new place. Answers how long it was closed, in milliseconds; undefined
 * where that would take too long: it is open again.
 */
async function closeAndSwitch(
  { home, orgId, after }: Moving,
  replication: Replication,
  from: Node,
  to: Node,
): Promise<number | undefined> {
  const { from: source, to: target } = replication;
  const began = performance.now();
  const timeLeft = (): number => mostClosedMillis - (performance.now() - began);
  // No caller enters any more; those who are in finish.
  await source.query('delete from rights_epochs where org_id = $1', [orgId]);
  for (;;) {
    const { rows } = await source.query<{ mine: boolean }>(
      'select pg_try_advisory_lock(app.door_of($1)) as mine',
      [orgId],
    );
    if (rows[0]?.mine === true) break;
    if (timeLeft() < 0) {
      await reopenDoor(source, orgId);
      return undefined;
    }
    await pause(2);
  }
  try {
    // A caller that writes from here on waits for the lock, and then sees this.
    await source.query('insert into app.closed_orgs (org_id) values ($1)', [orgId]);
    await after?.('closed');
    if (!(await hasFollowed(replication, Math.max(timeLeft(), leastFollowMillis)))) {
      await open(source, orgId);
      return undefined;
    }
    // Before its rows are removed at the old server, which the subscription would repeat.
    await endReplication(replication);
    const { rows } = await target.query<{ slug: string }>('select slug from orgs where id = $1', [orgId]);
    await sayPlace(home, { orgId, from: from.name, to: to.name, slug: rows[0]?.slug });
    // Not before: what is done there is there for good.
    await open(target, orgId);
    return Math.round(performance.now() - began);
  } finally {
    // Where the connection is over, the lock is too.
    await source.query('select pg_advisory_unlock(app.door_of($1))', [orgId]).catch(() => undefined);
  }
}

/** One transaction; an error leaves none open, so that home can be asked afterwards where the organization is. */
async function sayPlace(
  home: pg.Client,
  { orgId, from, to, slug }: { orgId: string; from: string; to: string; slug: string | undefined },
): Promise<void> {
  await home.query('begin');
  try {
    const { rowCount } = await home.query(
      `update app.org_places set node = $2, moving_to = null, left_from = $3, changed_at = now()
       where org_id = $1 and node = $3 and moving_to = $2`,
      [orgId, to, from],
    );
    if (rowCount !== 1) throw new CannotMove(`home does not say any more that ${orgId} moves to ${to}`);
    await home.query('delete from app.claimed_slugs where org_id = $1', [orgId]);
    if (to !== homeName)
      await home.query('insert into app.claimed_slugs (slug, org_id) values ($1, $2)', [slug, orgId]);
    await home.query('commit');
  } catch (error) {
    await home.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** At the server that home says now. */
async function open(client: pg.ClientBase, orgId: string): Promise<void> {
  await client.query('delete from app.closed_orgs where org_id = $1', [orgId]);
  await reopenDoor(client, orgId);
}

const reopenDoor = (client: pg.ClientBase, orgId: string) =>
  client.query(
    `insert into rights_epochs (org_id) select id from orgs where id = $1 on conflict (org_id) do nothing`,
    [orgId],
  );

/** Removes the rows at the server that it left, and what was there for the move. */
async function removeLeft(moving: Moving, client: pg.ClientBase): Promise<number> {
  const { home, orgId } = moving;
  const removed = await removeAll(client, orgId, await readTables(client));
  await endGuarding(client, orgId);
  await client.query('delete from app.closed_orgs where org_id = $1', [orgId]);
  await home.query('update app.org_places set left_from = null, changed_at = now() where org_id = $1', [
    orgId,
  ]);
  await forgetIfHome(moving);
  return removed;
}

/** Home needs no word of what is at home. */
const forgetIfHome = ({ home, orgId }: Moving) =>
  home.query(
    'delete from app.org_places where org_id = $1 and node = $2 and moving_to is null and left_from is null',
    [orgId, homeName],
  );

function urlOf({ name, pool }: Node): string {
  const { connectionString } = pool.options;
  if (connectionString === undefined) throw new CannotMove(`${name} has no address`);
  return connectionString;
}

async function connect(node: Node): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: urlOf(node),
    connectionTimeoutMillis: 5_000,
    application_name: 'muster-move',
    keepAlive: true,
    // What is said to be written is on the disk, whatever the server's default.
    options: '-c TimeZone=UTC -c synchronous_commit=on',
  });
  // A connection that is lost fails the statement that waits for it.
  client.on('error', () => undefined);
  await client.connect().catch((error: unknown) => {
    throw new CannotMove(`${node.name} does not answer: ${error instanceof Error ? error.message : ''}`);
  });
  return client;
}

/** Throws CannotMove where the login or the server does not allow a move. */
async function checkServer(client: pg.Client, { name }: Node): Promise<void> {
  const { rows } = await client.query<{ may: boolean; level: string }>(
    `select (r.rolsuper or (r.rolbypassrls and r.rolreplication and pg_has_role(r.oid, 'pg_create_subscription', 'member')
         and has_database_privilege(current_database(), 'create')))
       and has_parameter_privilege('session_replication_role', 'set') as may, current_setting('wal_level') as level
     from pg_roles r where r.rolname = current_user`,
  );
  const [server] = rows;
  if (server?.may !== true)
    throw new CannotMove(
      `the login at ${name} may not move rows: it needs bypassrls, replication, pg_create_subscription, create on the database, and to set session_replication_role`,
    );
  if (server.level !== 'logical')
    throw new CannotMove(
      `${name} has wal_level = ${server.level}: set it to logical, and start that server again`,
    );
}

/** A connection of a login that may copy rows as they are: no row security stands before them, and nothing follows from them. */
async function withMover<Result>(
  { signal }: Pick<Moving, 'signal'>,
  node: Node,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const client = await connect(node);
  const stop = (): void => {
    client.end().catch(() => undefined);
  };
  signal.addEventListener('abort', stop);
  try {
    await checkServer(client, node);
    await client.query(`set session_replication_role = 'replica'`);
    signal.throwIfAborted();
    return await work(client);
  } finally {
    signal.removeEventListener('abort', stop);
    await client.end();
  }
}
