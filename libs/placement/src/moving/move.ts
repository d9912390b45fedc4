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
import { type AllNodes, homeNodeName, type Node } from '../nodes.ts';
import { CannotMoveError } from './cannot-move.ts';
import { createGuardTriggers, dropGuardTriggers } from './guarding.ts';
import {
  beginReplication,
  endReplication,
  hasCaughtUp,
  type Replication,
  waitUntilCopied,
} from './replicating.ts';
import { createMissingMonths, removeOrganizationRows } from './rows.ts';
import { describeSchemaDifference, readTables, runInTransaction } from './tables.ts';

export interface MoveHooks {
  readonly onStep?: (step: string) => void;
  /** Runs at the end of each step, for specs. It may throw. */
  readonly afterStep?: (step: MoveStep) => Promise<void>;
}

export type MoveStep = 'following' | 'copied' | 'caught up' | 'closed' | 'switched';

export interface MoveResult {
  readonly from: string;
  readonly to: string;
  /** The time during which no caller was admitted, in milliseconds. */
  readonly closedMillis: number;
  /** The number of rows removed from the old server, which is the organization's number of rows. */
  readonly movedRowCount: number;
}

/** The time limit of one wait for the new server to catch up, in milliseconds. */
const catchUpTimeoutMillis = 5_000;
/**
 * The maximum time that the organization may be closed, in milliseconds. After it, the organization is
 * reopened and closed again later.
 */
const maxClosedMillis = 800;
const minCatchUpMillis = 200;
const maxAttemptsToCloseOrg = 20;
const reopenPauseMillis = 1_000;

interface PlacementRow {
  readonly node: string;
  readonly moving_to: string | null;
  readonly left_from: string | null;
}

interface MoveContext extends MoveHooks {
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
 * Moves the organization. Throws CannotMoveError or the error of a server. Then the organization is where the
 * primary server says, and calling again continues the move.
 */
export async function moveOrganization(
  nodes: AllNodes,
  {
    orgId,
    to,
    fromUrl,
  }: { readonly orgId: string; readonly to: Node; readonly fromUrl?: string | undefined },
  hooks: MoveHooks = {},
): Promise<MoveResult | undefined> {
  const home = await connectToNode(nodes[0]);
  const lost = new AbortController();
  home.on('error', () => {
    lost.abort(new CannotMoveError('the connection to the primary server was lost'));
  });
  try {
    const { rows } = await home.query<{ mine: boolean }>(
      `select pg_try_advisory_lock(hashtextextended('moves', 0)) as mine`,
    );
    if (rows[0]?.mine !== true) throw new CannotMoveError('another organization is being moved');
    const moving: MoveContext = { ...hooks, home, orgId, nodes, fromUrl, signal: lost.signal };
    const { node, moving_to: movingTo, left_from: leftFrom } = await readPlacement(moving);
    const from = requireNode(nodes, node);
    const others = [movingTo, leftFrom].flatMap((name) => (name === null ? [] : requireNode(nodes, name)));
    return await withMoveLocks(moving, [...new Set([from, to, ...others])], async (clients) => {
      await resolveInterruptedMove(moving);
      const [source, target] = [clients.get(from), clients.get(to)];
      if (source === undefined || target === undefined || from === to) return undefined;
      return moveBetweenNodes(moving, { node: from, client: source }, { node: to, client: target });
    });
  } finally {
    await home.end();
  }
}

/**
 * Runs work with a connection to each server, under a lock for moving the organization there. The lock of the
 * primary server ends with the connection to it, so an earlier mover may still be working on these servers.
 */
async function withMoveLocks<Result>(
  context: MoveContext,
  [node, ...others]: readonly Node[],
  work: (clients: ReadonlyMap<Node, pg.Client>) => Promise<Result>,
): Promise<Result> {
  if (node === undefined) return work(new Map());
  return withMoveConnection(context, node, async (client) => {
    const { rows } = await client.query<{ mine: boolean }>(
      `select pg_try_advisory_lock(hashtextextended('moves ' || $1, 0)) as mine`,
      [context.orgId],
    );
    if (rows[0]?.mine !== true)
      throw new CannotMoveError(`an earlier move of the organization is still running on ${node.name}`);
    return withMoveLocks(context, others, (clients) => work(new Map([...clients, [node, client]])));
  });
}

async function readPlacement({ home, orgId }: MoveContext): Promise<PlacementRow> {
  const { rows } = await home.query<PlacementRow>(
    'select node, moving_to, left_from from app.org_places where org_id = $1',
    [orgId],
  );
  return rows[0] ?? { node: homeNodeName, moving_to: null, left_from: null };
}

function requireNode(nodes: AllNodes, name: string): Node {
  const node = nodes.find((one) => one.name === name);
  if (node === undefined) throw new CannotMoveError(`DATABASE_NODES has no server named ${name}`);
  return node;
}

/** Undoes or completes an earlier move that was interrupted. */
async function resolveInterruptedMove(context: MoveContext): Promise<void> {
  const { nodes, orgId, home } = context;
  const place = await readPlacement(context);
  if (place.moving_to !== null) {
    context.onStep?.('undoing an interrupted move');
    const [from, to] = [requireNode(nodes, place.node), requireNode(nodes, place.moving_to)];
    await withMoveConnection(context, from, async (source) => {
      await reopenOrganization(source, orgId);
      await dropGuardTriggers(source, orgId);
      await withMoveConnection(context, to, async (target) => {
        await endReplication({ from: source, to: target, orgId });
        await removeOrganizationRows(target, orgId, await readTables(target));
        await target.query('delete from app.closed_orgs where org_id = $1', [orgId]);
      });
    });
    await home.query('update app.org_places set moving_to = null, changed_at = now() where org_id = $1', [
      orgId,
    ]);
    await deletePlacementAtHome(context);
  }
  if (place.left_from !== null) {
    context.onStep?.('removing leftovers of an earlier move');
    await withMoveConnection(context, requireNode(nodes, place.node), (client) =>
      reopenOrganization(client, orgId),
    );
    await withMoveConnection(context, requireNode(nodes, place.left_from), (client) =>
      removeMovedRows(context, client),
    );
  }
}

interface MoveEndpoint {
  readonly node: Node;
  readonly client: pg.Client;
}

async function moveBetweenNodes(
  context: MoveContext,
  { node: from, client: source }: MoveEndpoint,
  { node: to, client: target }: MoveEndpoint,
): Promise<MoveResult> {
  const { orgId, home } = context;
  const tables = await readTables(source);
  const difference = describeSchemaDifference(tables, await readTables(target));
  if (difference !== undefined) throw new CannotMoveError(difference);
  const { rows: there } = await source.query('select from orgs where id = $1', [orgId]);
  if (there.length === 0)
    throw new CannotMoveError(`the organization ${orgId} does not exist on ${from.name}`);
  await home.query(
    `insert into app.org_places (org_id, node, moving_to) values ($1, $2, $3)
     on conflict (org_id) do update set moving_to = excluded.moving_to, changed_at = now()`,
    [orgId, from.name, to.name],
  );
  try {
    await createMissingMonths(source, target);
    // Hides the copied rows from the worker of the new server until the organization is opened there.
    await target.query('insert into app.closed_orgs (org_id) values ($1) on conflict do nothing', [orgId]);
    await createGuardTriggers(source, orgId, tables);
    const replication: Replication = { from: source, to: target, orgId };
    await beginReplication(replication, tables, context.fromUrl ?? urlOf(from));
    await context.afterStep?.('following');
    return await followAndSwitch(context, replication, from, to);
  } catch (error) {
    // If the primary server cannot be asked where the organization is, nothing is undone here. The next
    // attempt to move undoes it.
    const isThere = await readPlacement(context).then(
      ({ node }) => node === from.name,
      () => false,
    );
    if (isThere) await resolveInterruptedMove(context).catch(() => undefined);
    throw error;
  }
}

async function followAndSwitch(
  context: MoveContext,
  replication: Replication,
  from: Node,
  to: Node,
): Promise<MoveResult> {
  const { onStep, afterStep } = context;
  await waitUntilCopied(replication);
  onStep?.('existing data is copied');
  await afterStep?.('copied');
  while (!(await hasCaughtUp(replication, catchUpTimeoutMillis))) {
    onStep?.('the new server is still behind');
    await waitUntilCopied(replication);
  }
  await afterStep?.('caught up');
  for (let closing = 1; ; closing += 1) {
    const closedMillis = await closeAndSwitch(context, replication, from, to);
    if (closedMillis !== undefined) {
      onStep?.(`it is on ${to.name} now; it was closed for writes for ${closedMillis} ms`);
      await afterStep?.('switched');
      const rows = await removeMovedRows(context, replication.from);
      return { from: from.name, to: to.name, closedMillis, movedRowCount: rows };
    }
    if (closing === maxAttemptsToCloseOrg)
      throw new CannotMoveError('a transaction runs longer than the organization may be closed for writes');
    onStep?.('a transaction runs long; the move closes the organization again in a moment');
    await pause(reopenPauseMillis);
  }
}

/**
 * Closes the organization, waits for the last rows, and has the primary server record the new placement.
 * Returns how long the organization was closed, in milliseconds. Returns undefined if that would take too
 * long; the organization is open again then.
 */
async function closeAndSwitch(
  { home, orgId, afterStep }: MoveContext,
  replication: Replication,
  from: Node,
  to: Node,
): Promise<number | undefined> {
  const { from: source, to: target } = replication;
  const began = performance.now();
  const timeLeft = (): number => maxClosedMillis - (performance.now() - began);
  // No new caller is admitted; running calls finish.
  await source.query('delete from rights_epochs where org_id = $1', [orgId]);
  for (;;) {
    const { rows } = await source.query<{ mine: boolean }>(
      'select pg_try_advisory_lock(app.door_of($1)) as mine',
      [orgId],
    );
    if (rows[0]?.mine === true) break;
    if (timeLeft() < 0) {
      await restoreRightsEpoch(source, orgId);
      return undefined;
    }
    await pause(2);
  }
  try {
    // From here on, a caller that writes waits for the lock and then sees that the organization is closed.
    await source.query('insert into app.closed_orgs (org_id) values ($1)', [orgId]);
    await afterStep?.('closed');
    if (!(await hasCaughtUp(replication, Math.max(timeLeft(), minCatchUpMillis)))) {
      await reopenOrganization(source, orgId);
      return undefined;
    }
    // Replication ends before the rows on the old server are removed; otherwise the subscription would repeat
    // the deletions.
    await endReplication(replication);
    const { rows } = await target.query<{ slug: string }>('select slug from orgs where id = $1', [orgId]);
    await recordPlacement(home, { orgId, from: from.name, to: to.name, slug: rows[0]?.slug });
    // The organization is opened on the new server only after the switch, because everything written there is
    // final.
    await reopenOrganization(target, orgId);
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
async function recordPlacement(
  home: pg.Client,
  { orgId, from, to, slug }: { orgId: string; from: string; to: string; slug: string | undefined },
): Promise<void> {
  await runInTransaction(home, async () => {
    const { rowCount } = await home.query(
      `update app.org_places set node = $2, moving_to = null, left_from = $3, changed_at = now()
       where org_id = $1 and node = $3 and moving_to = $2`,
      [orgId, to, from],
    );
    if (rowCount !== 1)
      throw new CannotMoveError(`the primary server no longer records that ${orgId} is moving to ${to}`);
    await home.query('delete from app.claimed_slugs where org_id = $1', [orgId]);
    if (to !== homeNodeName)
      await home.query('insert into app.claimed_slugs (slug, org_id) values ($1, $2)', [slug, orgId]);
  });
}

/** Opens the organization at the server that is now responsible for it. */
async function reopenOrganization(client: pg.ClientBase, orgId: string): Promise<void> {
  await client.query('delete from app.closed_orgs where org_id = $1', [orgId]);
  await restoreRightsEpoch(client, orgId);
}

const restoreRightsEpoch = (client: pg.ClientBase, orgId: string) =>
  client.query(
    `insert into rights_epochs (org_id) select id from orgs where id = $1 on conflict (org_id) do nothing`,
    [orgId],
  );

/** Removes the organization's rows from the server that it left, and the traces of the move. */
async function removeMovedRows(context: MoveContext, client: pg.ClientBase): Promise<number> {
  const { home, orgId } = context;
  const removed = await removeOrganizationRows(client, orgId, await readTables(client));
  await dropGuardTriggers(client, orgId);
  await client.query('delete from app.closed_orgs where org_id = $1', [orgId]);
  await home.query('update app.org_places set left_from = null, changed_at = now() where org_id = $1', [
    orgId,
  ]);
  await deletePlacementAtHome(context);
  return removed;
}

/** The primary server needs no placement row for its own organizations. */
const deletePlacementAtHome = ({ home, orgId }: MoveContext) =>
  home.query(
    'delete from app.org_places where org_id = $1 and node = $2 and moving_to is null and left_from is null',
    [orgId, homeNodeName],
  );

function urlOf({ name, pool }: Node): string {
  const { connectionString } = pool.options;
  if (connectionString === undefined) throw new CannotMoveError(`${name} has no address`);
  return connectionString;
}

async function connectToNode(node: Node): Promise<pg.Client> {
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
    throw new CannotMoveError(`${node.name} does not answer: ${error instanceof Error ? error.message : ''}`);
  });
  return client;
}

/** Throws CannotMoveError if the login or the server does not allow a move. */
async function checkServer(client: pg.Client, { name }: Node): Promise<void> {
  const { rows } = await client.query<{ may: boolean; level: string }>(
    `select (r.rolsuper or (r.rolbypassrls and r.rolreplication and pg_has_role(r.oid, 'pg_create_subscription', 'member')
         and has_database_privilege(current_database(), 'create')))
       and has_parameter_privilege('session_replication_role', 'set') as may, current_setting('wal_level') as level
     from pg_roles r where r.rolname = current_user`,
  );
  const [server] = rows;
  if (server?.may !== true)
    throw new CannotMoveError(
      `the login on ${name} may not move rows: it needs bypassrls, replication, pg_create_subscription, create on the database, and the right to set session_replication_role`,
    );
  if (server.level !== 'logical')
    throw new CannotMoveError(
      `${name} has wal_level = ${server.level}; set it to logical and restart that server`,
    );
}

/**
 * Runs work with a connection whose login may copy rows unchanged: row-level security does not apply, and no
 * triggers fire.
 */
async function withMoveConnection<Result>(
  { signal }: Pick<MoveContext, 'signal'>,
  node: Node,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const client = await connectToNode(node);
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
