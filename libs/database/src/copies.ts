/**
 * Copies of accounts, sessions and passkeys between home and its nodes, as sign-in sends them. Home has them, and a node's calls
 * read their copies; what a node changes (a session that a member ends, a passkey that they rename) goes home, and from there to
 * the other nodes. What is to be sent is rows of sign_in.unsent, so that a server which is away hears of it when it is back.
 */
import { homeName, type Node, type Nodes } from './nodes.ts';
import { type Db } from './organization.ts';
import { type Pool } from './pool.ts';
import { type Query, sql } from './sql.ts';
import { inTransaction } from './transaction.ts';

interface Unsent {
  readonly kind: 'accounts' | 'passkeys' | 'sessions';
  readonly id: string;
  readonly version: number;
}

const portion = 500;

/** Of their kinds in this order: a session needs its account. */
const unsentTo = (peer: string): Query<Unsent> => sql<Unsent>`
  select kind, id, version from sign_in.unsent where peer = ${peer} order by kind, id limit ${portion}`;

const inSchema = <Result>(pool: Pool, work: (db: Db) => Promise<Result>): Promise<Result> =>
  inTransaction(pool, { prologue: [], orgId: null }, work);

/** The rows of a kind as they are, in one text; those that are gone are not among them. */
async function rowsOf(db: Db, kind: Unsent['kind'], ids: readonly string[]): Promise<string> {
  const table = sql.word(kind);
  const { rows } = await db.one(
    sql<{ rows: string }>`select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text as rows
      from sign_in.${table} t where t.id = any (${ids}::uuid[])`,
  );
  return rows;
}

/** At a node: as home has them. */
const copied: Readonly<Record<Unsent['kind'], (rows: string) => Query<unknown>>> = {
  accounts: (rows) => sql`
    insert into sign_in.accounts as a select * from jsonb_populate_recordset(null::sign_in.accounts, ${rows}::jsonb)
    on conflict (id) do update set email = excluded.email, name = excluded.name`,
  passkeys: (rows) => sql`
    insert into sign_in.passkeys as p select * from jsonb_populate_recordset(null::sign_in.passkeys, ${rows}::jsonb)
    on conflict (id) do update set name = excluded.name, counter = excluded.counter, is_synced = excluded.is_synced,
      last_used_at = excluded.last_used_at`,
  sessions: (rows) => sql`
    insert into sign_in.sessions as s select * from jsonb_populate_recordset(null::sign_in.sessions, ${rows}::jsonb)
    on conflict (id) do update set hash = excluded.hash, proofs = excluded.proofs, ends_at = excluded.ends_at,
      proven_at = greatest(s.proven_at, excluded.proven_at), last_seen_at = greatest(s.last_seen_at, excluded.last_seen_at),
      expires_at = least(greatest(s.expires_at, excluded.expires_at), excluded.ends_at),
      revoked_at = coalesce(s.revoked_at, excluded.revoked_at)`,
};

/** At home: what a node may have changed of them. */
const merged: Readonly<Record<Unsent['kind'], ((rows: string) => Query<unknown>) | null>> = {
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

/** What is removed at one is removed at the other; nobody makes or removes an account or a session at a node. */
const removed = (kind: Unsent['kind'], asked: readonly string[], rows: string): Query<unknown> => {
  const table = sql.word(kind);
  return sql`delete from sign_in.${table} t where t.id = any (${asked}::uuid[]) and not exists (
    select 1 from jsonb_array_elements(${rows}::jsonb) x where x ->> 'id' = t.id::text)`;
};

/** Sends what changed at one server to the other; answers how much that was. */
async function send(from: Node, to: Node): Promise<number> {
  const isDown = from.name === homeName;
  const [unsent, kinds] = await inSchema(from.pool, async (db) => {
    const all = await db.all(unsentTo(to.name));
    const byKind = Map.groupBy(all, ({ kind }) => kind);
    const said: { kind: Unsent['kind']; ids: string[]; rows: string }[] = [];
    for (const [kind, those] of byKind) {
      const ids = those.map(({ id }) => id);
      said.push({ kind, ids, rows: await rowsOf(db, kind, ids) });
    }
    return [all, said];
  });
  if (unsent.length === 0) return 0;
  await inSchema(to.pool, async (db) => {
    await db.all(sql`select set_config('muster.from_peer', ${from.name}, true)`);
    for (const { kind, ids, rows } of kinds.toReversed())
      if (isDown || kind === 'passkeys') await db.all(removed(kind, ids, rows));
    for (const { kind, rows } of kinds) {
      const write = isDown ? copied[kind] : merged[kind];
      if (write !== null) await db.all(write(rows));
    }
  });
  await inSchema(from.pool, (db) =>
    db.all(sql`
      delete from sign_in.unsent u using unnest(${unsent.map(({ kind }) => kind)}::text[], ${unsent.map(({ id }) => id)}::uuid[],
        ${unsent.map(({ version }) => version)}::int[]) sent (kind, id, version)
      where u.peer = ${to.name} and u.kind = sent.kind and u.id = sent.id and u.version = sent.version`),
  );
  return unsent.length;
}

const others = (nodes: Nodes): readonly Node[] => nodes.all.filter((node) => node !== nodes.home);

async function sendAll(from: Node, to: Node): Promise<void> {
  while ((await send(from, to)) === portion);
}

/** Sends what home has for its nodes. A node that does not answer gets it later: nobody waits for it for longer than that. */
export async function settleCopies(nodes: Nodes, withinMillis: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, withinMillis);
  });
  const sending = Promise.allSettled(others(nodes).map((node) => sendAll(nodes.home, node)));
  await Promise.race([sending, late]);
  clearTimeout(timer);
}

/** Sends both ways, with every node. Throws what the first threw that failed, when all had their turn. */
export async function exchangeCopies(nodes: Nodes): Promise<void> {
  const settled = await Promise.allSettled(
    others(nodes).map(async (node) => {
      await sendAll(node, nodes.home);
      await sendAll(nodes.home, node);
    }),
  );
  const failed = settled.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/**
 * Makes a node one that copies go to, as the owner of the tables; the first time all that there is is to be sent. It is done once for a
 * node, and again where it was made anew.
 */
export async function addPeer(home: Pool, { name, pool }: Node): Promise<void> {
  await inSchema(pool, (db) =>
    db.all(sql`insert into sign_in.peers (name) values (${homeName}) on conflict do nothing`),
  );
  await inSchema(home, async (db) => {
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
