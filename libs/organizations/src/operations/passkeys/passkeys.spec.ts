import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { inOrganizationAsSystem } from '@muster/tenancy';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { organizationsHandlers, preparePasskeyMail } from '../../index.ts';

const world = useWorld(organizationsHandlers);
let people: PeopleOf<typeof world>;
beforeEach(async () => {
  people = await world.org();
});

/** Gives a member an account with passkeys of these names, and returns their ids. */
async function withPasskeys({ me }: PersonOf<typeof world>, ...names: string[]): Promise<string[]> {
  const account = newId();
  await world.rows(
    `insert into sign_in.accounts (id, email, name) values ($1, $2, 'One')`,
    ...[account, `${account}@acme.example`],
  );
  await world.rows('update members set account_id = $2 where id = $1', me.memberId, account);
  const ids = names.map(() => newId());
  for (const [index, name] of names.entries())
    await world.rows(
      `insert into sign_in.passkeys (id, account_id, credential_id, public_key, name, is_synced) values ($1, $2, $3, '', $4, true)`,
      ...[ids[index], account, randomBytes(16), name],
    );
  return ids;
}

describe('passkeys.list', () => {
  it("shows one's own, oldest first, page by page", async () => {
    const [first, second] = await withPasskeys(people.chloe, 'Laptop', 'Phone');
    await withPasskeys(people.ben, 'Key');
    const page = await people.chloe.passkeys.list({ limit: 1 });
    expect(page.items).toEqual([
      { id: first, name: 'Laptop', synced: true, createdAt: expect.any(String), lastUsedAt: null },
    ]);
    const rest = await people.chloe.passkeys.list({ cursor: page.nextCursor ?? '' });
    expect(rest).toMatchObject({ items: [{ id: second, name: 'Phone' }], nextCursor: null });
  });

  it('is empty for a member who has never signed in', async () => {
    expect(await people.dan.passkeys.list()).toEqual({ items: [], nextCursor: null });
  });
});

describe('passkeys.rename', () => {
  it("calls one's own by another name, and finds no other", async () => {
    const [passkeyId = ''] = await withPasskeys(people.chloe, 'Laptop');
    const { passkey } = await people.chloe.passkeys.rename({ passkeyId, name: ' Work laptop ' });
    expect(passkey).toMatchObject({ id: passkeyId, name: 'Work laptop' });
    const attempt = people.ana.passkeys.rename({ passkeyId, name: 'Mine' });
    await expect(attempt).rejects.toMatchObject({ status: 404 });
    expect((await people.chloe.passkeys.list()).items).toEqual([passkey]);
  });
});

describe('passkeys.delete', () => {
  const mails = () =>
    world.rows<{ payload: { memberId: string; name: string } }>(
      `select payload from outbox where org_id = $1 and topic = 'passkey.mail'`,
      people.orgId,
    );

  it("removes one's own, and has its person told at the address of the account", async () => {
    const [passkeyId = '', other] = await withPasskeys(people.chloe, 'Laptop', 'Phone');
    expect(await people.chloe.passkeys.delete({ passkeyId })).toEqual({ deleted: true });
    expect((await people.chloe.passkeys.list()).items.map(({ id }) => id)).toEqual([other]);
    await expect(people.chloe.passkeys.delete({ passkeyId })).rejects.toMatchObject({ status: 404 });
    const [asked, ...more] = await mails();
    expect(more).toEqual([]);
    const payload = asked?.payload ?? { memberId: '', name: '' };
    expect(payload).toEqual({ memberId: people.chloe.me.memberId, name: 'Laptop' });
    const prepare = () =>
      inOrganizationAsSystem(world.database.app, people.orgId, (db) =>
        preparePasskeyMail(db, { ...payload, baseUrl: 'https://muster.example/' }),
      );
    const [account] = await world.rows<{ email: string }>(
      'select a.email from sign_in.accounts a join members m on m.account_id = a.id where m.id = $1',
      people.chloe.me.memberId,
    );
    expect(await prepare()).toMatchObject({
      ...{ to: account?.email, subject: 'A passkey was removed: Laptop' },
      text: expect.stringContaining('https://muster.example/sign-in/passkeys'),
    });
    await world.rows(`update members set status = 'removed' where id = $1`, people.chloe.me.memberId);
    expect(await prepare()).toBeNull();
  });

  it("removes no other's, not for an admin either, and tells no one", async () => {
    const [passkeyId = ''] = await withPasskeys(people.chloe, 'Laptop');
    await expect(people.ana.passkeys.delete({ passkeyId })).rejects.toMatchObject({ status: 404 });
    await expect(people.robo.passkeys.delete({ passkeyId })).rejects.toMatchObject({
      reason: 'agents_may_not',
    });
    expect((await people.chloe.passkeys.list()).items).toHaveLength(1);
    expect(await mails()).toEqual([]);
  });
});
