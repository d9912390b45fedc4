/** Tokens end together with the token that created them. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { hashToken } from '@muster/runtime';
import { type PeopleOf, useWorld } from '@muster/testing';
import { organizationsHandlers } from '../../index.ts';

const world = useWorld(organizationsHandlers);
let people: PeopleOf<typeof world>;
beforeEach(async () => {
  people = await world.org();
  // The tokens of members expire in 400 days, later than any token that they create.
  await world.rows(`update tokens set expires_at = now() + interval '400 days' where agent_id is null`);
});

const agentId = (): string => people.robo.me.agentId ?? '';

describe('the parent of a token', () => {
  /** Creates a chain: a token of Chloé creates another one, which creates one for her agent. */
  async function generations() {
    const { chloe, orgId } = people;
    const first = await chloe.tokens.create({ name: 'first', scopes: ['write'], expiresInDays: 80 });
    const second = await world
      .client(first.secret)
      .tokens.create({ name: 'second', scopes: ['write'], expiresInDays: 80 });
    const bySecond = world.client(second.secret);
    const third = await bySecond.tokens.create({
      ...{ name: 'third', scopes: ['write'], agentId: agentId(), expiresInDays: 80 },
    });
    const sibling = await chloe.tokens.create({ name: 'sibling', scopes: ['write'] });
    const ended = async () =>
      (
        await world.rows<{ name: string }>(
          `select name from tokens where org_id = $1 and name in ('first', 'second', 'third', 'sibling')
             and (revoked_at is not null or expires_at <= now()) order by name`,
          orgId,
        )
      ).map(({ name }) => name);
    return { first, second, third, sibling, ended };
  }

  it('is recorded and listed', async () => {
    const { chloe } = people;
    const { first, second, third } = await generations();
    const { items } = await chloe.tokens.list();
    const parentOf = (id: string) => items.find((item) => item.id === id)?.parentId;
    const own = items.find(({ parentId, agentId }) => parentId === null && agentId === null);
    expect(parentOf(first.token.id)).toBe(own?.id);
    expect(parentOf(second.token.id)).toBe(first.token.id);
    expect(parentOf(third.token.id)).toBe(second.token.id);
  });

  it('ends all its descendants in the transaction that revokes it, and no other token', async () => {
    const { chloe } = people;
    const { first, ended } = await generations();
    await chloe.tokens.revoke({ tokenId: first.token.id });
    expect(await ended()).toEqual(['first', 'second', 'third']);
    const times = await world.rows<{ count: number }>(
      `select count(distinct revoked_at)::int as count from tokens where name in ('first', 'second', 'third')`,
    );
    expect(times[0]?.count).toBe(1);
  });

  it('ends its descendants when its own time is shortened', async () => {
    const { first, ended } = await generations();
    await world.rows('update tokens set expires_at = now() where id = $1', first.token.id);
    expect(await ended()).toEqual(['first', 'second', 'third']);
  });

  it('ends what it makes while it is being revoked', async () => {
    const { orgId, chloe } = people;
    const { token, secret } = await chloe.tokens.create({ name: 'maker', scopes: ['write'] });
    const maker = world.client(secret);
    await world.runUnderContention<unknown>(
      { table: 'tokens', id: token.id },
      () => maker.tokens.create({ name: 'late', scopes: ['write'] }),
      () => chloe.tokens.revoke({ tokenId: token.id }),
    );
    expect(
      await world.rows(
        `select from tokens where org_id = $1 and name = 'late' and revoked_at is null`,
        orgId,
      ),
    ).toEqual([]);
  });

  it("ends the token that an admin's token made for another member's agent", async () => {
    const { ben, ana, orgId } = people;
    const own = await world.token(orgId, ben.me.memberId, { scopes: ['admin'] });
    const { secret } = await own.tokens.create({ name: 'x', scopes: ['write'], agentId: agentId() });
    await ana.members.removeMember({ memberId: ben.me.memberId });
    expect(
      await world.rows('select from tokens where hash = $1 and revoked_at is not null', hashToken(secret)),
    ).toHaveLength(1);
  });
});
