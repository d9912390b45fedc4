/**
 * Tests the copies of accounts on another server. They arrive completely and in order, and a session that
 * ends on one server ends on all.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createPool, newId, sql } from '@muster/driver';
import { withTestTimeouts, waitUntil, useWorld } from '@muster/testing';
import { exchangeCopies, sendCopiesToOtherNodes, registerCopyReceiver } from './copies.ts';
import { connectNodes, type Nodes } from './nodes.ts';
import { inSignInTransaction } from './sign-in.ts';

const [home, east] = [useWorld({}), useWorld({})];

let nodes: Nodes;
beforeAll(async () => {
  // A single connection to the primary server: no process that holds it waits for another.
  const poolOf = (url: string, max: number) =>
    withTestTimeouts(createPool({ url, role: 'muster_sign_in', max }));
  nodes = connectNodes(poolOf(home.database.url, 1), [{ name: 'east', pool: poolOf(east.database.url, 2) }]);
  await registerCopyReceiver(home.database.owner, { name: 'east', pool: east.database.owner });
});
afterAll(() => Promise.all(nodes.all.map(({ pool }) => pool.end())));
beforeEach(() => exchangeCopies(nodes.home.pool));

const addAccount = async (): Promise<string> => {
  const id = newId();
  await home.rows(
    `insert into sign_in.accounts (id, email, name) values ($1, $2, 'Ana')`,
    id,
    `${id}@acme.example`,
  );
  return id;
};

const addSession = async (account: string): Promise<string> => {
  const id = newId();
  await home.rows(
    `insert into sign_in.sessions (id, account_id, hash, proofs, last_seen_at, expires_at, ends_at)
     values ($1, $2, $3, '{link}', now(), now() + interval '20 days', now() + interval '40 days')`,
    ...[id, account, randomBytes(32)],
  );
  return id;
};

const endSession = (session: string) =>
  home.rows('update sign_in.sessions set revoked_at = now() where id = $1', session);

const isSessionOver = async (session: string): Promise<boolean | undefined> =>
  (
    await east.rows<{ is_over: boolean }>(
      'select revoked_at is not null as is_over from sign_in.sessions where id = $1',
      session,
    )
  )[0]?.is_over;

const unsent = () => home.rows<{ kind: string; id: string }>('select kind, id from sign_in.unsent');

describe('what is sent to a node', () => {
  it('is read when its turn has come, so that nothing goes back to what it was', async () => {
    const session = await addSession(await addAccount());
    await exchangeCopies(nodes.home.pool);
    await home.rows(`update sign_in.sessions set proofs = '{passkey}' where id = $1`, session);
    const other = await east.database.owner.connect();
    let sending: Promise<void>;
    try {
      await other.query('begin');
      await other.query(`select from sign_in.peers where name = 'home' for no key update`);
      sending = exchangeCopies(nodes.home.pool);
      await waitUntil(
        async () =>
          (
            await east.rows(
              `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
            )
          ).length > 0,
      );
      await endSession(session);
    } finally {
      await other.query('commit');
      other.release();
    }
    await sending;
    expect([await isSessionOver(session), await unsent()]).toEqual([true, []]);
  });

  it('is another change each time, also where the one before was sent', async () => {
    const session = await addSession(await addAccount());
    const version = async () =>
      (await home.rows<{ version: string }>('select version from sign_in.unsent where id = $1', session))[0]
        ?.version;
    const first = await version();
    await exchangeCopies(nodes.home.pool);
    expect(await version()).toBeUndefined();
    await endSession(session);
    expect(await version()).not.toBe(first);
  });

  it('is all but what the node refuses, and what ends before anything else', async () => {
    const [account, refused] = [await addAccount(), await addAccount()];
    const session = await addSession(account);
    await exchangeCopies(nodes.home.pool);
    await east.rows(`alter table sign_in.accounts add constraint refusing check (name <> 'Eve') not valid`);
    try {
      await home.rows(`update sign_in.accounts set name = 'Eve' where id = $1`, refused);
      await endSession(session);
      const late = await addAccount();
      await expect(exchangeCopies(nodes.home.pool)).rejects.toMatchObject({ sqlState: '23514' });
      expect(await isSessionOver(session)).toBe(true);
      expect(await east.rows('select from sign_in.accounts where id = $1', late)).toHaveLength(1);
      expect(await unsent()).toEqual([{ kind: 'accounts', id: refused }]);
    } finally {
      await east.rows('alter table sign_in.accounts drop constraint refusing');
    }
    await exchangeCopies(nodes.home.pool);
    expect(await unsent()).toEqual([]);
  });

  it('does not bring a passkey back that was removed there', async () => {
    const account = await addAccount();
    const passkey = newId();
    await home.rows(
      `insert into sign_in.passkeys (id, account_id, credential_id, public_key, name) values ($1, $2, $3, $3, 'Key')`,
      ...[passkey, account, randomBytes(32)],
    );
    await exchangeCopies(nodes.home.pool);
    await home.rows('update sign_in.passkeys set counter = counter + 1 where id = $1', passkey);
    await east.rows('delete from sign_in.passkeys where id = $1', passkey);
    await inSignInTransaction(nodes.home.pool, (db) =>
      db.all(sql`update sign_in.accounts set name = 'Ann' where id = ${account}`),
    );
    expect(await east.rows('select from sign_in.passkeys where id = $1', passkey)).toEqual([]);
    await exchangeCopies(nodes.home.pool);
    expect(await home.rows('select from sign_in.passkeys where id = $1', passkey)).toEqual([]);
  });
});

describe('a transaction of signing in', () => {
  it('asks home where organizations are by the connection that it has', async () => {
    const { orgId } = await home.org();
    const found = await inSignInTransaction(nodes.home.pool, async (db) => [
      await db.everywhere(sql<{ id: string }>`select ${orgId}::text as id`, ({ id }) => id),
      await db.at(orgId, (there) => there.all(sql`select 1 as one`)),
      await db.organizationOf({ connection: newId() }),
    ]);
    expect(found).toEqual([[{ id: orgId }], [{ one: 1 }], undefined]);
  });

  it('sends what it wrote, and waits for nobody where it wrote nothing', async () => {
    const id = newId();
    // An account whose change was recorded by another process that has not sent it yet.
    const account = await addAccount();
    await inSignInTransaction(nodes.home.pool, (db) => db.all(sql`select count(*) from sign_in.accounts`));
    expect(await unsent()).toEqual([{ kind: 'accounts', id: account }]);
    await inSignInTransaction(nodes.home.pool, async (db) => {
      await Promise.resolve();
      db.deferToCommit(
        sql`insert into sign_in.accounts (id, email, name) values (${id}, ${`${id}@a.example`}, 'Bo')`,
      );
    });
    await waitUntil(async () => (await unsent()).length === 0);
    expect(await east.rows('select from sign_in.accounts where id = $1', id)).toHaveLength(1);
  });

  it('asks a server that is away no more for a moment, and is held up by it once', async () => {
    let asked = 0;
    const server = createServer((socket) => {
      asked += 1;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const poolOf = (url: string) => withTestTimeouts(createPool({ url, role: 'muster_sign_in', max: 1 }));
    const some = connectNodes(poolOf(home.database.url), [
      { name: 'west', pool: poolOf(`postgres://nobody@127.0.0.1:${port}/none`) },
    ]);
    const now = jest.spyOn(performance, 'now').mockReturnValue(1_000_000);
    const ask = () =>
      inSignInTransaction(some.home.pool, (db) => db.everywhere(sql<{ one: number }>`select 1 as one`, null));
    try {
      expect([await ask(), await ask(), asked]).toEqual([[{ one: 1 }], [{ one: 1 }], 1]);
      await sendCopiesToOtherNodes(some, 60_000);
      expect(asked).toBe(1);
      now.mockReturnValue(1_010_000);
      expect([await ask(), asked]).toEqual([[{ one: 1 }], 2]);
    } finally {
      now.mockRestore();
      await Promise.all(some.all.map(({ pool }) => pool.end()));
      server.close();
    }
  });
});
