/**
 * Moves an organization to another server while its members keep working. PostgreSQL's logical replication
 * copies the existing rows and follows new writes. Then the organization is closed for a moment: new callers
 * wait, running writes finish, and the last rows follow. Finally the primary server records the new
 * placement. No write is lost or done twice. A write was either committed before the organization was closed
 * and copied, or it was refused there and is done on the new server.
 *
 * Each step can be interrupted. Until the primary server records the new placement, the organization stays on
 * the old server, and the next call undoes what was begun. Afterwards it is on the new server, and the next
 * call removes what was left on the old one.
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
  /** Runs at the end of each step, for specs. It may throw. */
  readonly after?: (step: MoveStep) => Promise<void>;
}

export type MoveStep = 'following' | 'copied' | 'caught up' | 'closed' | 'switched';

export interface Moved {
  readonly from: string;
  readonly to: string;
  /** The time during which no caller was admitted, in milliseconds. */
  readonly closedMillis: number;
  /** The number of rows removed from the old server, which is the organization's number of rows. */
  readonly rows: number;
}

/** The time limit of one wait for the new server to catch up, in milliseconds. */
const followsWithinMillis = 5_000;
/**
 * The maximum time that the organization may be closed, in milliseconds. After it, the organization is
 * reopened and closed again later.
 */
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
  /** Aborted when the connection to the primary server is lost. Another move may begin from then on. */
  readonly signal: AbortSignal;
  readonly orgId: string;
  readonly nodes: AllNodes;
  /**
   * The address of the old server as the new server reaches it, if it differs from the one that this process
   * uses.
   */
  readonly fromUrl?: string | undefined;
}

/**
 * Moves the organization. Throws CannotMove or the error of a server. Then the organization is where the
 * primary server says, and calling again continues the move.
 */
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
    lost.abort(new CannotMove('the connection to the primary server was lost'));
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
 * Runs work with a connection to each server, under a lock for moving the organization there. The lock of the
 * primary server ends with the connection to it, so an earlier mover may still be working on these servers.
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
      throw new CannotMove(`an earlier move of the organization is still running on ${node.name}`);
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
  if (node === undefined) throw new CannotMove(`DATABASE_NODES has no server named ${name}`);
  return node;
}

/** Undoes or completes an earlier move that was interrupted. */
async function tidy(moving: Moving): Promise<void> {
  const { nodes, orgId, home } = moving;
  const place = await placeOf(moving);
  if (place.moving_to !== null) {
    moving.onStep?.('undoing an interrupted move');
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
    moving.onStep?.('removing leftovers of an earlier move');
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
  if (there.length === 0) throw new CannotMove(`the organization ${orgId} does not exist on ${from.name}`);
  await home.query(
    `insert into app.org_places (org_id, node, moving_to) values ($1, $2, $3)
     on conflict (org_id) do update set moving_to = excluded.moving_to, changed_at = now()`,
    [orgId, from.name, to.name],
  );
  try {
    await makeMonths(source, target);
    // Hides the copied rows from the worker of the new server until the organization is opened there.
    await target.query('insert into app.closed_orgs (org_id) values ($1) on conflict do nothing', [orgId]);
    await beginGuarding(source, orgId, tables);
    const replication: Replication = { from: source, to: target, orgId };
    await beginReplication(replication, tables, moving.fromUrl ?? urlOf(from));
    await moving.after?.('following');
    return await followAndSwitch(moving, replication, from, to);
  } catch (error) {
    // If the primary server cannot be asked where the organization is, nothing is undone here. The next
    // attempt to move undoes it.
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
  onStep?.('existing data is copied');
  await after?.('copied');
  while (!(await hasFollowed(replication, followsWithinMillis))) {
    onStep?.('the new server is still behind');
    await waitUntilCopied(replication);
  }
  await after?.('caught up');
  for (let closing = 1; ; closing += 1) {
    const closedMillis = await closeAndSwitch(moving, replication, from, to);
    if (closedMillis !== undefined) {
      onStep?.(`it is on ${to.name} now; it was closed for writes for ${closedMillis} ms`);
      await after?.('switched');
      const rows = await removeLeft(moving, replication.from);
      return { from: from.name, to: to.name, closedMillis, rows };
    }
    if (closing === mostClosings)
      throw new CannotMove('a transaction runs longer than the organization may be closed for writes');
    onStep?.('a transaction runs long; the move closes the organization again in a moment');
    await pause(opensForMillis);
  }
}

/**
 * Closes the organization, waits for the last rows, and has the primary server record the new placement.
 * Returns how long the organization was closed, in milliseconds. Returns undefined if that would take too
 * long; the organization is open again then.
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
  // No new caller is admitted; running calls finish.
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
    // From here on, a caller that writes waits for the lock and then sees that the organization is closed.
    await source.query('insert into app.closed_orgs (org_id) values ($1)', [orgId]);
    await after?.('closed');
    if (!(await hasFollowed(replication, Math.max(timeLeft(), leastFollowMillis)))) {
      await open(source, orgId);
      return undefined;
    }
    // Replication ends before the rows on the old server are removed; otherwise the subscription would repeat
    // the deletions.
    await endReplication(replication);
    const { rows } = await target.query<{ slug: string }>('select slug from orgs where id = $1', [orgId]);
    await sayPlace(home, { orgId, from: from.name, to: to.name, slug: rows[0]?.slug });
    // The organization is opened on the new server only after the switch, because everything written there is
    // final.
    await open(target, orgId);
    return Math.round(performance.now() - began);
  } finally {
    // If the connection was lost, the lock is released already.
    await source.query('select pg_advisory_unlock(app.door_of($1))', [orgId]).catch(() => undefined);
  }
}

/**
 * Records the new placement in one transaction. An error leaves no transaction open, so that the primary
 * server can be asked afterwards where the organization is.
 */
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
    if (rowCount !== 1)
      throw new CannotMove(`the primary server no longer records that ${orgId} is moving to ${to}`);
    await home.query('delete from app.claimed_slugs where org_id = $1', [orgId]);
    if (to !== homeName)
      await home.query('insert into app.claimed_slugs (slug, org_id) values ($1, $2)', [slug, orgId]);
    await home.query('commit');
  } catch (error) {
    await home.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** Opens the organization at the server that is now responsible for it. */
async function open(client: pg.ClientBase, orgId: string): Promise<void> {
  await client.query('delete from app.closed_orgs where org_id = $1', [orgId]);
  await reopenDoor(client, orgId);
}

const reopenDoor = (client: pg.ClientBase, orgId: string) =>
  client.query(
    `insert into rights_epochs (org_id) select id from orgs where id = $1 on conflict (org_id) do nothing`,
    [orgId],
  );

/** Removes the organization's rows from the server that it left, and the traces of the move. */
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

/** The primary server needs no placement row for its own organizations. */
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
    // A write that is reported as committed is on disk, whatever the server's default.
    options: '-c TimeZone=UTC -c synchronous_commit=on',
  });
  // A lost connection fails the statement that waits for it.
  client.on('error', () => undefined);
  await client.connect().catch((error: unknown) => {
    throw new CannotMove(`${node.name} does not answer: ${error instanceof Error ? error.message : ''}`);
  });
  return client;
}

/** Throws CannotMove if the login or the server does not allow a move. */
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
      `the login on ${name} may not move rows: it needs bypassrls, replication, pg_create_subscription, create on the database, and the right to set session_replication_role`,
    );
  if (server.level !== 'logical')
    throw new CannotMove(
      `${name} has wal_level = ${server.level}; set it to logical and restart that server`,
    );
}

/**
 * Runs work with a connection whose login may copy rows unchanged: row-level security does not apply, and no
 * triggers fire.
 */
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
