/**
 * Copies accounts, sessions and passkeys between the primary server (named home) and the other servers, on
 * behalf of sign-in. The primary server owns them, and calls on another server read its copies. A change made
 * on another server (a member ends a session or renames a passkey) is sent to the primary server, and from
 * there to the rest. Pending changes are rows of sign_in.unsent, so that an unavailable server receives them
 * when it returns.
 */
import { BurstError, type Db, inTransaction, type Pool, type Query, sql } from '@muster/driver';
import { awaitAll } from './databases.ts';
import { homeNodeName, type Node, type Nodes, nodesOf } from './nodes.ts';

interface UnsentChange {
  readonly kind: 'accounts' | 'passkeys' | 'sessions';
  readonly id: string;
  readonly version: string;
}

const maxRowsPerTransfer = 500;

/** The kinds in the order in which they are written: a session needs its account. */
const kindsInWriteOrder = ['accounts', 'passkeys', 'sessions'] as const;

/** Returns SQL for the next unsent rows, with ended records first. Rows in `refused` are skipped. */
const selectUnsent = (
  peer: string,
  maxRows: number,
  refused: readonly UnsentChange[],
): Query<UnsentChange> => {
  const portionOf = (isEnd: boolean) => sql.part`
    (select u.kind, u.id, u.version, u.is_end from sign_in.unsent u
     where u.peer = ${peer} and u.is_end = ${isEnd} and not exists (
       select from unnest(${refused.map(({ kind }) => kind)}::text[], ${refused.map(({ id }) => id)}::uuid[]) r (kind, id)
       where r.kind = u.kind and r.id = u.id)
     order by u.kind, u.id limit ${maxRows})`;
  return sql<UnsentChange>`
    select kind, id, version from (${portionOf(true)} union all ${portionOf(false)}) u
    order by is_end desc, kind, id limit ${maxRows}`;
};

const inTransactionWithoutOrg = <Result>(pool: Pool, work: (db: Db) => Promise<Result>): Promise<Result> =>
  inTransaction(pool, { prologue: [], orgId: null }, work);

/** Returns the current rows of a kind as one JSON text. Deleted rows are missing from it. */
async function readRowsAsJson(db: Db, kind: UnsentChange['kind'], ids: readonly string[]): Promise<string> {
  const table = sql.word(kind);
  const { rows } = await db.one(
    sql<{ rows: string }>`select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text as rows
      from sign_in.${table} t where t.id = any (${ids}::uuid[])`,
  );
  return rows;
}

const existsLocallySql = (kind: 'passkeys' | 'sessions') =>
  sql.part`exists (select from sign_in.${sql.word(kind)} here where here.id = x.id)`;
const hasUnsentPasskeyChange = sql.part`exists (select from sign_in.unsent u where u.kind = 'passkeys' and u.id = x.id)`;

/**
 * Builds the statements that copy rows to another server. Changes that the other server made and has not sent
 * yet are kept. A session that has ended there is not created again.
 */
const copyStatements: Readonly<Record<UnsentChange['kind'], (rows: string) => Query<unknown>>> = {
  accounts: (rows) => sql`
    insert into sign_in.accounts as a select * from jsonb_populate_recordset(null::sign_in.accounts, ${rows}::jsonb)
    on conflict (id) do update set email = excluded.email, name = excluded.name`,
  passkeys: (rows) => sql`
    insert into sign_in.passkeys as p select * from jsonb_populate_recordset(null::sign_in.passkeys, ${rows}::jsonb) x
    where ${existsLocallySql('passkeys')} or not ${hasUnsentPasskeyChange}
    on conflict (id) do update set name = case when exists (
        select from sign_in.unsent u where u.kind = 'passkeys' and u.id = p.id) then p.name else excluded.name end, counter = excluded.counter, is_synced = excluded.is_synced,
      last_used_at = excluded.last_used_at`,
  sessions: (rows) => sql`
    insert into sign_in.sessions as s select * from jsonb_populate_recordset(null::sign_in.sessions, ${rows}::jsonb) x
    where x.revoked_at is null or ${existsLocallySql('sessions')}
    on conflict (id) do update set hash = excluded.hash, proofs = excluded.proofs, ends_at = excluded.ends_at,
      proven_at = greatest(s.proven_at, excluded.proven_at), last_seen_at = greatest(s.last_seen_at, excluded.last_seen_at),
      expires_at = least(greatest(s.expires_at, excluded.expires_at), excluded.ends_at),
      revoked_at = coalesce(s.revoked_at, excluded.revoked_at)`,
};

/** Builds the statements that apply changes from another server at the primary server. */
const mergeStatements: Readonly<Record<UnsentChange['kind'], ((rows: string) => Query<unknown>) | null>> = {
  accounts: null,
  passkeys: (rows) => sql`
    update sign_in.passkeys p set name = x.name
    from jsonb_populate_recordset(null::sign_in.passkeys, ${rows}::jsonb) x where p.id = x.id and p.name <> x.name`,
  sessions: (rows) => sql`
    update sign_in.sessions s set revoked_at = coalesce(s.revoked_at, x.revoked_at),
      last_seen_at = greatest(s.last_seen_at, x.last_seen_at),
      expires_at = least(greatest(s.expires_at, x.expires_at), s.ends_at)
    from jsonb_populate_recordset(null::sign_in.sessions, ${rows}::jsonb) x where s.id = x.id`,
};

/**
 * Builds the statement that deletes rows which no longer exist at the sender. Only the primary server creates
 * and deletes accounts and sessions.
 */
const deleteMissingRows = (
  kind: UnsentChange['kind'],
  sentIds: readonly string[],
  rows: string,
): Query<unknown> => {
  const table = sql.word(kind);
  return sql`delete from sign_in.${table} t where t.id = any (${sentIds}::uuid[]) and not exists (
    select 1 from jsonb_array_elements(${rows}::jsonb) x where x ->> 'id' = t.id::text)`;
};

interface TransferResult {
  readonly rows: readonly UnsentChange[];
  /** The reason why the other server accepted none of the rows. */
  readonly refusal?: BurstError;
}

const isRejectedByServer = (error: unknown): error is BurstError =>
  error instanceof BurstError && error.sqlState !== undefined && !/^(?:57P|08)/.test(error.sqlState);

/**
 * Sends some of the changes of one server to another. Before it reads, the sender locks its row in the other
 * server's sign_in.peers and holds the lock until it has written. So what was read later is also written
 * later, whichever process sends it.
 */
async function sendPortion(
  from: Node,
  to: Node,
  maxRows: number,
  refused: readonly UnsentChange[],
): Promise<TransferResult> {
  const isDown = from.name === homeNodeName;
  let unsent: readonly UnsentChange[] = [];
  try {
    await inTransactionWithoutOrg(to.pool, async (db) => {
      const turn = await db.find(
        sql`select set_config('muster.from_peer', ${from.name}, true)
            from (select from sign_in.peers where name = ${from.name} for no key update) peer`,
      );
      // The other server does not take part in copying yet.
      if (turn === undefined) return;
      const rows = await inTransactionWithoutOrg(from.pool, async (source) => {
        unsent = await source.all(selectUnsent(to.name, maxRows, refused));
        const byKind = new Map<UnsentChange['kind'], { ids: readonly string[]; rows: string }>();
        for (const kind of new Set(unsent.map((one) => one.kind))) {
          const ids = unsent.filter((one) => one.kind === kind).map(({ id }) => id);
          byKind.set(kind, { ids, rows: await readRowsAsJson(source, kind, ids) });
        }
        return byKind;
      });
      const own = rows.get('passkeys')?.ids ?? [];
      // Locks these passkeys, which waits for a transaction that is deleting one of them. The next statement
      // then sees the deletion.
      if (isDown && own.length > 0)
        await db.all(
          sql`select from sign_in.passkeys where id = any (${own}::uuid[]) order by id for update`,
        );
      for (const kind of kindsInWriteOrder.toReversed()) {
        const rowsOfKind = rows.get(kind);
        if (rowsOfKind !== undefined && (isDown || kind === 'passkeys'))
          await db.all(deleteMissingRows(kind, rowsOfKind.ids, rowsOfKind.rows));
      }
      for (const kind of kindsInWriteOrder) {
        const rowsOfKind = rows.get(kind);
        const write = isDown ? copyStatements[kind] : mergeStatements[kind];
        if (rowsOfKind !== undefined && write !== null) await db.all(write(rowsOfKind.rows));
      }
    });
  } catch (error) {
    if (unsent.length > 0 && isRejectedByServer(error)) return { rows: unsent, refusal: error };
    throw error;
  }
  // A row that another transaction has locked is about to get a new version, so it is skipped.
  if (unsent.length > 0)
    await inTransactionWithoutOrg(from.pool, (db) =>
      db.all(sql`
        delete from sign_in.unsent u using (
          select k.kind, k.id from sign_in.unsent k
          join unnest(${unsent.map(({ kind }) => kind)}::text[], ${unsent.map(({ id }) => id)}::uuid[],
            ${unsent.map(({ version }) => version)}::uuid[]) sent (kind, id, version)
            on k.kind = sent.kind and k.id = sent.id and k.version = sent.version
          where k.peer = ${to.name} for update of k skip locked) gone
        where u.peer = ${to.name} and u.kind = gone.kind and u.id = gone.id`),
    );
  return { rows: unsent };
}

const otherNodes = (nodes: Nodes): readonly Node[] => nodes.all.filter((node) => node !== nodes.home);

/**
 * Sends all changes. A refused portion is sent again row by row, so that one bad row does not block the
 * others. Throws the first refusal at the end.
 */
async function sendInPortions(from: Node, to: Node): Promise<void> {
  const refused: UnsentChange[] = [];
  let fault: BurstError | undefined;
  for (let singly = 0; ;) {
    const maxRows = singly > 0 ? 1 : maxRowsPerTransfer;
    const { rows, refusal } = await sendPortion(from, to, maxRows, refused);
    singly = Math.max(singly - 1, 0);
    if (refusal === undefined) {
      if (rows.length < maxRows) break;
    } else if (rows.length === 1) {
      refused.push(...rows);
      fault ??= refusal;
    } else singly = rows.length;
  }
  if (fault !== undefined) throw fault;
}

interface CopyTransfer {
  readonly running: Promise<void>;
  next?: Promise<void>;
}

/** The transfers that this process is running, by sender and receiver. */
const transfersByPools = new WeakMap<Pool, WeakMap<Pool, CopyTransfer>>();

/** Sends all pending changes. Callers that arrive during a transfer share the next one. */
function sendPendingChanges(from: Node, to: Node): Promise<void> {
  const ofFrom = transfersByPools.get(from.pool) ?? new WeakMap<Pool, CopyTransfer>();
  transfersByPools.set(from.pool, ofFrom);
  const start = (): Promise<void> => {
    const running = sendInPortions(from, to).finally(() => {
      const turn = ofFrom.get(to.pool);
      if (turn?.next === undefined) ofFrom.delete(to.pool);
    });
    ofFrom.set(to.pool, { running });
    return running;
  };
  const turn = ofFrom.get(to.pool);
  if (turn === undefined) return start();
  turn.next ??= turn.running.then(start, start);
  return turn.next;
}

/**
 * Sends the pending changes of the primary server to the other servers and waits up to `maxWaitMillis`. A
 * server that does not answer in time receives them later.
 */
export async function sendCopiesToOtherNodes(nodes: Nodes, maxWaitMillis: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, maxWaitMillis);
  });
  const sending = Promise.allSettled(
    otherNodes(nodes).map((node) => nodes.runOnNode(node, () => sendPendingChanges(nodes.home, node))),
  );
  await Promise.race([sending, late]);
  clearTimeout(timer);
}

/**
 * Exchanges pending changes with every server, in both directions. When all transfers have finished, throws
 * the first error, if any.
 */
export async function exchangeCopies(pool: Pool): Promise<void> {
  const nodes = nodesOf(pool);
  if (nodes === undefined) return;
  await awaitAll(
    otherNodes(nodes).map(async (node) => {
      await sendPendingChanges(node, nodes.home);
      await sendPendingChanges(nodes.home, node);
    }),
  );
}

/**
 * Registers a server as a receiver of copies, as the owner of the tables. The first registration schedules
 * everything for sending. It is done once per server, and again after the server was set up again.
 */
export async function registerCopyReceiver(home: Pool, { name, pool }: Node): Promise<void> {
  await inTransactionWithoutOrg(pool, (db) =>
    db.all(sql`insert into sign_in.peers (name) values (${homeNodeName}) on conflict do nothing`),
  );
  await inTransactionWithoutOrg(home, async (db) => {
    const added = await db.all(
      sql`insert into sign_in.peers (name) values (${name}) on conflict do nothing returning name`,
    );
    if (added.length === 0) return;
    await db.all(sql`
      insert into sign_in.unsent (peer, kind, id)
      select ${name}, 'accounts', id from sign_in.accounts
      union all select ${name}, 'passkeys', id from sign_in.passkeys
      union all select ${name}, 'sessions', id from sign_in.sessions where revoked_at is null and expires_at > now()
      on conflict do nothing`);
  });
}
