/** Tests access to the schema of accounts and sessions, and that an ended session ends its tokens. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createPool, newId, sql } from '@muster/driver';
import { inSignInTransaction } from '@muster/placement';
import { useWorld } from '@muster/testing';
import { identifySession, recordTokenUse } from './identity.ts';

const world = useWorld({});

/** Creates a session of Chloé, who is a member only by her address. */
async function arrange() {
  const people = await world.org();
  const { orgId, chloe } = people;
  const [account, session] = [newId(), newId()];
  const email = `${account}@acme.example`;
  await world.rows('update members set email = $2 where id = $1', chloe.me.memberId, email);
  await world.rows(`insert into sign_in.accounts (id, email, name) values ($1, $2, 'Chloé')`, account, email);
  const entering = { sessionHash: randomBytes(32), orgId, tokenHash: randomBytes(32) };
  await world.rows(
    `insert into sign_in.sessions (id, account_id, hash, proofs, last_seen_at, expires_at, ends_at)
     values ($1, $2, $3, '{link}', now() - interval '2 days', now() + interval '20 days', now() + interval '40 days')`,
    ...[session, account, entering.sessionHash],
  );
  const enter = () => identifySession(world.database.app, entering);
  return { ...people, account, session, email, entering, enter };
}

describe('the role of signing in', () => {
  it('reaches its own schema, and no row of an organization', async () => {
    const own = await world.rows<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c
       where c.relnamespace in ('public'::regnamespace, 'months'::regnamespace) and c.relkind in ('r', 'p', 'v', 'm')
         and (has_any_column_privilege('muster_sign_in', c.oid, 'select, insert, update, references')
           or has_table_privilege('muster_sign_in', c.oid, 'delete, truncate, trigger'))`,
    );
    expect(own).toEqual([]);
    const pool = createPool({ url: world.database.url, role: 'muster_sign_in', max: 1 });
    try {
      await inSignInTransaction(pool, (db) => db.all(sql`select count(*) from sign_in.accounts`));
      await expect(
        inSignInTransaction(pool, (db) => db.all(sql`select count(*) from members`)),
      ).rejects.toMatchObject({
        sqlState: '42501',
      });
    } finally {
      await pool.end();
    }
  });

  it('is the only one of the services that does, but for the door', async () => {
    const others = await world.rows<{ name: string }>(
      `select rolname as name from pg_roles where rolname like 'muster%' and has_schema_privilege(rolname, 'sign_in', 'usage') order by 1`,
    );
    expect(others.map(({ name }) => name)).toEqual(['muster_door', 'muster_sign_in']);
    const read = await world.rows<{ name: string }>(
      `select table_name as name from information_schema.columns
       where table_schema = 'sign_in' and has_column_privilege('muster_door', format('sign_in.%I', table_name), column_name, 'select')
       group by 1 order by 1`,
    );
    // The database role of the sign-in service cannot read links, OAuth clients and data of issuers. Of the
    // table `unsent` it can read only the column `id`.
    expect(read.map(({ name }) => name)).toEqual(['accounts', 'passkeys', 'peers', 'sessions', 'unsent']);
  });
});

describe('a session', () => {
  it('enters where its person is a member, who is so known from then on', async () => {
    const { enter, orgId, chloe, account, session } = await arrange();
    expect(await enter()).toMatchObject({ orgId, memberId: chloe.me.memberId, session: { id: session } });
    const [member] = await world.rows<{ account_id: string }>(
      'select account_id from members where id = $1',
      chloe.me.memberId,
    );
    expect(member?.account_id).toBe(account);
    // The member keeps the account when the e-mail address changes.
    await world.rows(`update members set email = 'else@acme.example' where id = $1`, chloe.me.memberId);
    expect(await enter()).toMatchObject({ memberId: chloe.me.memberId });
  });

  it('does not enter as a member who is of another account already', async () => {
    const { enter, chloe } = await arrange();
    await world.rows('update members set account_id = $2 where id = $1', chloe.me.memberId, newId());
    expect(await enter()).toBeUndefined();
  });

  it('does not enter a deleted organization', async () => {
    const { enter, orgId } = await arrange();
    await enter();
    await world.rows('update orgs set deleted_at = now() where id = $1', orgId);
    expect(await enter()).toBeUndefined();
  });

  it.each(['revoked_at = now()', "expires_at = now() - interval '1 second'"])(
    'does not enter once %s',
    async (change) => {
      const { enter, session } = await arrange();
      await world.rows(`update sign_in.sessions set ${change} where id = $1`, session);
      expect(await enter()).toBeUndefined();
    },
  );

  it('takes its tokens along when it ends, and begins another epoch', async () => {
    const { enter, orgId, session } = await arrange();
    await enter();
    const epoch = () => world.rows('select epoch from rights_epochs where org_id = $1', orgId);
    const before = await epoch();
    await world.rows('update sign_in.sessions set revoked_at = now() where id = $1', session);
    expect(await epoch()).not.toEqual(before);
    const alive = await world.rows(
      'select id from tokens where session_id = $1 and revoked_at is null',
      session,
    );
    expect(alive).toEqual([]);
  });

  it('enters again as the member that its person has become anew', async () => {
    const { enter, orgId, chloe, email } = await arrange();
    await enter();
    await world.rows(`update members set status = 'removed' where id = $1`, chloe.me.memberId);
    await world.rows('select app.release_member($1, $2)', orgId, chloe.me.memberId);
    expect(await enter()).toBeUndefined();
    const { me } = await world.member(orgId, 'Chloé again', 'member');
    await world.rows('update members set email = $2 where id = $1', me.memberId, email);
    expect(await enter()).toMatchObject({ memberId: me.memberId });
  });

  it('enters as the member of now, also where it came in while the one of before was removed', async () => {
    const { enter, entering, orgId, chloe, account, email } = await arrange();
    await world.rows('update members set account_id = $2 where id = $1', chloe.me.memberId, account);
    const holder = await world.database.owner.connect();
    await holder.query('begin');
    await holder.query(
      `insert into tokens (org_id, id, member_id, name, hash, scopes, last_four)
       values ($1, $2, $3, 'in the way', $4, '{read}', '')`,
      [orgId, newId(), chloe.me.memberId, entering.tokenHash],
    );
    const during = enter();
    await world.waitUntilBlocked(1);
    await world.rows(`update members set status = 'removed' where id = $1`, chloe.me.memberId);
    await world.rows('select app.release_member($1, $2)', orgId, chloe.me.memberId);
    await holder.query('rollback');
    holder.release();
    expect(await during).toBeUndefined();
    const { me } = await world.member(orgId, 'Chloé again', 'member');
    await world.rows('update members set email = $2 where id = $1', me.memberId, email);
    expect(await enter()).toMatchObject({ memberId: me.memberId });
  });

  it('that is used lasts for thirty days more, and no longer than it ever may', async () => {
    const { enter, entering, session } = await arrange();
    await enter();
    const days = async () => {
      const [row] = await world.rows<{ session: string; token: string }>(
        `select round(extract(epoch from s.expires_at - now()) / 86400) as session,
           round(extract(epoch from t.expires_at - now()) / 86400) as token
         from sign_in.sessions s join tokens t on t.session_id = s.id where s.id = $1`,
        session,
      );
      return [Number(row?.session), Number(row?.token)];
    };
    expect(await days()).toEqual([20, 20]);
    await recordTokenUse(world.database.app, [entering]);
    expect(await days()).toEqual([30, 30]);
    await world.rows(
      `update sign_in.sessions set ends_at = now() + interval '31 days', last_seen_at = now() - interval '2 days',
         expires_at = now() + interval '5 days' where id = $1`,
      session,
    );
    await world.rows(
      `update sign_in.sessions set ends_at = now() + interval '7 days' where id = $1`,
      session,
    );
    await recordTokenUse(world.database.app, [entering]);
    expect((await days())[0]).toBe(7);
  });

  it('that has ended is not woken up by use', async () => {
    const { enter, entering, session } = await arrange();
    await enter();
    await world.rows(
      `update sign_in.sessions set expires_at = now() - interval '1 s' where id = $1`,
      session,
    );
    await recordTokenUse(world.database.app, [entering]);
    expect(await enter()).toBeUndefined();
  });
});

describe('a policy that asks for more than a link', () => {
  const ask = (orgId: string, rules: object) =>
    world.rows('update orgs set policy = $2 where id = $1', orgId, JSON.stringify(rules));
  const prove = (session: string, proof: string) =>
    world.rows('update sign_in.sessions set proofs = proofs || $2::text where id = $1', session, proof);
  const refused = { name: 'BurstError', sqlState: 'MU403' };

  it('lets a session in only that a passkey has proven', async () => {
    const { orgId, session, enter } = await arrange();
    await ask(orgId, { requirePasskey: true });
    await expect(enter()).rejects.toMatchObject(refused);
    await prove(session, 'passkey');
    expect(await enter()).toMatchObject({ orgId });
  });

  it('lets a session in only that one of its issuers has vouched for, and no other one', async () => {
    const { orgId, session, enter } = await arrange();
    const [first, second, foreign] = [newId(), newId(), newId()];
    await ask(orgId, { allowedIdentityProviders: [first, second] });
    await prove(session, `provider:${foreign}`);
    await expect(enter()).rejects.toMatchObject(refused);
    await prove(session, `provider:${second}`);
    expect(await enter()).toMatchObject({ orgId });
  });

  it('asks nothing of the owner, whom an issuer that is away would lock out', async () => {
    const { orgId, ana, chloe, enter } = await arrange();
    await ask(orgId, { requirePasskey: true });
    await world.rows(`update members set role = 'admin' where id = $1`, ana.me.memberId);
    await world.rows(`update members set role = 'owner' where id = $1`, chloe.me.memberId);
    expect(await enter()).toMatchObject({ memberId: chloe.me.memberId });
  });
});
