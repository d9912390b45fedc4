import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { maxTokensPerMember } from '@muster/contract';
import { hashToken, isWellFormedToken } from '@muster/runtime';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeProject, arrangeProjectMember } from '../../../test/work.ts';
import { organizationsHandlers } from '../../index.ts';

const world = useWorld(organizationsHandlers);
let people: PeopleOf<typeof world>;
beforeEach(async () => {
  people = await world.org();
  // The tokens of members expire in 400 days, later than any token that they create.
  await world.rows(`update tokens set expires_at = now() + interval '400 days' where agent_id is null`);
});

const day = 86_400_000;
const daysOf = ({ createdAt, expiresAt }: { createdAt: string; expiresAt: string | null }): number =>
  (Date.parse(expiresAt ?? '') - Date.parse(createdAt)) / day;
const refused = (status: number, reason: string, details: object = {}) => ({
  status,
  body: { details: { reason, ...details } },
});
const identify = async (secret: string) =>
  (
    await world.rows<{ member_id: string; agent_id: string | null; revoked_at: string | null }>(
      'select member_id, agent_id, revoked_at from tokens where hash = $1',
      hashToken(secret),
    )
  )[0];
const agentId = (): string => people.robo.me.agentId ?? '';

describe('tokens.create', () => {
  it('makes a token of the caller, whose secret is in the answer and nowhere else', async () => {
    const { chloe } = people;
    const { token, secret } = await chloe.tokens.create({ name: 'Laptop', scopes: ['write'] });
    expect(token).toEqual({
      ...{ id: expect.any(String), name: 'Laptop', kind: 'api', scopes: ['write'], projectIds: null },
      ...{ memberId: chloe.me.memberId, agentId: null, mayReadInbox: true, parentId: expect.any(String) },
      ...{ prefix: secret.slice(0, 14), lastFour: secret.slice(-4) },
      ...{ createdAt: expect.any(String), expiresAt: expect.any(String), lastUsedAt: null, revokedAt: null },
    });
    expect(isWellFormedToken(secret)).toBe(true);
    expect(daysOf(token)).toBe(90);
    expect(await identify(secret)).toMatchObject({ member_id: chloe.me.memberId, agent_id: null });
    const [kept] = await world.rows<{ text: string }>(
      `select (select string_agg(t::text, ' ') from tokens t) || (select string_agg(a::text, ' ') from audit a)
         || coalesce((select string_agg(o::text, ' ') from outbox o), '') as text`,
    );
    expect(kept?.text).not.toContain(secret);
    expect(kept?.text).toContain('tokens.create');
  });

  it('makes one for an agent of the caller, which ends within 90 days and reads the inbox only where it was said', async () => {
    const { chloe } = people;
    const shy = await chloe.tokens.create({ name: 'a', scopes: ['write'], agentId: agentId() });
    expect(shy.token).toMatchObject({ agentId: agentId(), mayReadInbox: false });
    const { token } = await chloe.tokens.create({
      ...{ name: 'b', scopes: ['read'], agentId: agentId(), mayReadInbox: true, expiresInDays: 2 },
    });
    expect([token.mayReadInbox, daysOf(token)]).toEqual([true, 2]);
    await expect(
      chloe.tokens.create({ name: 'c', scopes: ['read'], agentId: agentId(), expiresInDays: 91 }),
    ).rejects.toMatchObject({ status: 400, body: { details: { issues: [{ path: 'expiresInDays' }] } } });
    await expect(
      chloe.tokens.create({ name: 'd', scopes: ['read'], mayReadInbox: true }),
    ).rejects.toMatchObject({ status: 400, body: { details: { issues: [{ path: 'mayReadInbox' }] } } });
  });

  it.each([0, 366, 1.5])('refuses an end in %d days', async (expiresInDays) => {
    await expect(
      people.chloe.tokens.create({ name: 'x', scopes: ['read'], expiresInDays }),
    ).rejects.toMatchObject({ status: 400 });
  });

  it('never gives the scope platform', async () => {
    const operator = await world.token(people.orgId, people.ana.me.memberId, {
      scopes: ['admin', 'platform'],
    });
    await expect(
      operator.tokens.create({ name: 'x', scopes: ['platform' as 'admin'] }),
    ).rejects.toMatchObject({ status: 400 });
  });

  it.each([
    [['read'], ['read'], 'scope'],
    [['write'], ['read'], null],
    [['write'], ['read', 'write'], null],
    [['write'], ['admin'], 'scope'],
    [['admin'], ['admin'], null],
    [['platform'], ['read'], 'scope'],
  ] as const)('with %j makes %j: %s', async (held, wanted, reason) => {
    const maker = await world.token(people.orgId, people.ben.me.memberId, { scopes: held });
    const made = maker.tokens.create({ name: 'x', scopes: [...wanted] });
    if (reason === null) expect((await made).token.scopes).toEqual([...wanted]);
    else await expect(made).rejects.toMatchObject(refused(403, reason));
  });

  it('gives the scope admin to admins alone, whatever the token that calls has', async () => {
    const { chloe, dan, ben, ana } = people;
    for (const person of [chloe, dan]) {
      await expect(person.tokens.create({ name: 'x', scopes: ['admin'] })).rejects.toMatchObject(
        refused(403, 'role', { needed: 'admin', held: person === chloe ? 'member' : 'viewer' }),
      );
      expect((await person.tokens.create({ name: 'x', scopes: ['write'] })).secret).toMatch(/^must_live_/);
    }
    for (const person of [ben, ana])
      expect((await person.tokens.create({ name: 'x', scopes: ['admin'] })).token.scopes).toEqual(['admin']);
  });

  it('makes none that outlives the one that it is made with', async () => {
    const { orgId, chloe } = people;
    const brief = await world.token(orgId, chloe.me.memberId, { scopes: ['write'] });
    const { token } = await brief.tokens.create({ name: 'x', scopes: ['write'], expiresInDays: 30 });
    expect(daysOf(token)).toBeLessThanOrEqual(1);
    expect(daysOf(token)).toBeGreaterThan(0.9);
    // A creating token without an expiry does not shorten the lifetime of the new token.
    await world.rows('update tokens set expires_at = null where hash = $1', hashToken(chloe.me.token));
    expect(
      daysOf((await chloe.tokens.create({ name: 'x', scopes: ['read'], expiresInDays: 365 })).token),
    ).toBe(365);
  });

  it('binds it to projects that its maker sees, named by id or key', async () => {
    const { orgId, chloe } = people;
    const web = await arrangeProject(world, orgId, 'WEB');
    const docs = await arrangeProject(world, orgId, 'DOCS', { visibility: 'private' });
    await arrangeProjectMember(world, orgId, docs, chloe, 'viewer');
    const hidden = await arrangeProject(world, orgId, 'SECRET', { visibility: 'private' });
    const { token } = await chloe.tokens.create({
      name: 'x',
      scopes: ['write'],
      projectIds: ['docs', web, 'WEB'],
    });
    expect(token.projectIds).toEqual([docs, web]);
    for (const ref of [hidden, 'SECRET', 'NONE', newId()])
      await expect(
        chloe.tokens.create({ name: 'x', scopes: ['write'], projectIds: ['WEB', ref] }),
      ).rejects.toMatchObject({ status: 404 });
  });

  it('made with a bound token is bound to the same projects, or fewer', async () => {
    const { orgId, ben } = people;
    const [web, docs, other] = [
      await arrangeProject(world, orgId, 'WEB'),
      await arrangeProject(world, orgId, 'DOCS'),
      await arrangeProject(world, orgId, 'OTHER'),
    ];
    const bound = await world.token(orgId, ben.me.memberId, { projectIds: [web, docs] });
    expect((await bound.tokens.create({ name: 'x', scopes: ['write'] })).token.projectIds).toEqual([
      web,
      docs,
    ]);
    const fewer = await bound.tokens.create({ name: 'x', scopes: ['write'], projectIds: ['DOCS'] });
    expect(fewer.token.projectIds).toEqual([docs]);
    await expect(
      bound.tokens.create({ name: 'x', scopes: ['write'], projectIds: [other] }),
    ).rejects.toMatchObject({ status: 404 });
    // A token that is bound to projects cannot create a token for another member's agent, because the new
    // token would reach beyond the projects.
    await expect(
      bound.tokens.create({ name: 'x', scopes: ['write'], agentId: agentId() }),
    ).rejects.toMatchObject(refused(403, 'not_own_agent'));
  });

  it('is not for agents, and the refusal is in the audit', async () => {
    const { orgId, ana, robo } = people;
    await expect(robo.tokens.create({ name: 'x', scopes: ['read'] })).rejects.toMatchObject(
      refused(403, 'agents_may_not'),
    );
    const [entry] = await world.rows(
      `select outcome, reason from audit where org_id = $1 and operation = 'tokens.create'`,
      orgId,
    );
    expect(entry).toEqual({ outcome: 'denied', reason: 'agents_may_not' });
    await expect(robo.tokens.list()).rejects.toMatchObject(refused(403, 'agents_may_not'));
    const { token } = await ana.tokens.create({ name: 'x', scopes: ['read'] });
    await expect(robo.tokens.revoke({ tokenId: token.id })).rejects.toMatchObject(
      refused(403, 'agents_may_not'),
    );
  });

  it("of another's agent is for admins with that scope, who come to nothing more by it", async () => {
    const { orgId, ana, ben, dan, chloe } = people;
    const make = (by: typeof ben, more: object = {}) =>
      by.tokens.create({ name: 'x', scopes: ['write'], agentId: agentId(), ...more });
    expect((await make(ben)).token).toMatchObject({ memberId: chloe.me.memberId, agentId: agentId() });
    await expect(make(dan)).rejects.toMatchObject(refused(403, 'not_own_agent'));
    const writer = await world.token(orgId, ben.me.memberId, { scopes: ['write'] });
    await expect(make(writer)).rejects.toMatchObject(refused(403, 'not_own_agent'));
    // Only the member can allow an agent to read the inbox.
    await expect(make(ben, { mayReadInbox: true })).rejects.toMatchObject(refused(403, 'not_own_agent'));
    // An agent has at most its member's role.
    await expect(make(ben, { scopes: ['admin'] })).rejects.toMatchObject(refused(403, 'role'));
    // With a token of the owner's agent, an admin would gain the owner's rights.
    const { agent: owners } = await ana.agents.create({ name: 'Butler' });
    await expect(make(ben, { agentId: owners.id })).rejects.toMatchObject(
      refused(403, 'role', { needed: 'owner', held: 'admin' }),
    );
    expect((await make(ana, { agentId: owners.id, scopes: ['admin'] })).token.scopes).toEqual(['admin']);
  });

  it('knows no agent of another organization, and makes none of one that is retired', async () => {
    const { chloe } = people;
    const theirs = await world.org();
    for (const id of [newId(), theirs.robo.me.agentId ?? ''])
      await expect(chloe.tokens.create({ name: 'x', scopes: ['read'], agentId: id })).rejects.toMatchObject({
        status: 404,
      });
    await chloe.agents.retire({ agentId: agentId() });
    await expect(
      chloe.tokens.create({ name: 'x', scopes: ['read'], agentId: agentId() }),
    ).rejects.toMatchObject(refused(422, 'agent_retired', { retiredAt: expect.any(String) }));
    // A missing project is reported before the retired agent.
    await expect(
      chloe.tokens.create({ name: 'x', scopes: ['read'], agentId: agentId(), projectIds: ['NONE'] }),
    ).rejects.toMatchObject({ status: 404, body: { details: { path: 'projectIds.0' } } });
  });

  it('stops at a hundred tokens of a member that are alive, also when two make the last one', async () => {
    const { orgId, chloe } = people;
    await world.rows(
      `insert into tokens (org_id, id, member_id, name, hash, last_four, scopes, expires_at, revoked_at)
       select $1, gen_random_uuid(), $2::uuid, 'n', sha256((n::text || $2::uuid::text)::bytea), 'abcd', '{read}',
         now() + case when n > 150 then interval '-1 day' else interval '1 day' end, case when n > 100 then now() end
       from generate_series(1, 200) n`,
      orgId,
      chloe.me.memberId,
    );
    const full = refused(422, 'limit_exceeded', { limit: 'tokens', max: maxTokensPerMember });
    const make = (more: object = {}) => chloe.tokens.create({ name: 'x', scopes: ['read'], ...more });
    await expect(make()).rejects.toMatchObject(full);
    await expect(make({ agentId: agentId() })).rejects.toMatchObject(full);
    // 102 tokens are active: the 100 inserted ones, Chloé's own and Robo's. After three are revoked, one more
    // can be created.
    await world.rows(
      `update tokens set revoked_at = now() where id in (select id from tokens where org_id = $1 and name = 'n' and revoked_at is null limit 3)`,
      orgId,
    );
    const outcomes = await world.runUnderContention({ table: 'members', id: chloe.me.memberId }, make, () =>
      make({ agentId: agentId() }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: full });
  });
});

describe('tokens.list', () => {
  it("shows one's own and one's agents', newest first, page by page, and nothing of their secrets", async () => {
    const { chloe, ben } = people;
    await ben.tokens.create({ name: 'not hers', scopes: ['read'] });
    const secrets: string[] = [];
    for (const name of ['a', 'b'])
      secrets.push((await chloe.tokens.create({ name, scopes: ['read'] })).secret);
    await chloe.tokens.create({ name: 'agent', scopes: ['read'], agentId: agentId() });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await chloe.tokens.list({
        limit: 2,
        memberId: chloe.me.memberId,
        ...(cursor !== undefined && { cursor }),
      });
      seen.push(...page.items.map(({ name }) => name));
      expect(JSON.stringify(page)).not.toMatch(/hash/i);
      for (const secret of secrets) expect(JSON.stringify(page)).not.toContain(secret);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual(['agent', 'b', 'a', 'spec', 'spec']);
    const ofAgent = await chloe.tokens.list({ agentId: agentId() });
    expect(ofAgent.items.map(({ name }) => name)).toEqual(['agent', 'spec']);
  });

  it('leaves out those that ended, unless they are asked for', async () => {
    const { chloe } = people;
    const { token: revoked } = await chloe.tokens.create({ name: 'revoked', scopes: ['read'] });
    const { token: expired } = await chloe.tokens.create({ name: 'expired', scopes: ['read'] });
    await chloe.tokens.revoke({ tokenId: revoked.id });
    await world.rows(`update tokens set expires_at = now() - interval '1 s' where id = $1`, expired.id);
    const names = async (params: object) => (await chloe.tokens.list(params)).items.map(({ name }) => name);
    expect(await names({})).toEqual(['spec', 'spec']);
    expect(await names({ includeEnded: true })).toEqual(['expired', 'revoked', 'spec', 'spec']);
  });

  it('shows all to admins with that scope, of this organization alone; to others only their own', async () => {
    const { orgId, ana, ben, chloe, dan } = people;
    const ids = async (person: typeof ana, params: object = {}) =>
      (await person.tokens.list(params)).items.map(({ memberId }) => memberId);
    const everybody = [ana, ben, chloe, chloe, dan].map(({ me }) => me.memberId).sort();
    expect((await ids(ben)).sort()).toEqual(everybody);
    expect(await ids(ben, { memberId: dan.me.memberId })).toEqual([dan.me.memberId]);
    expect(await ids(dan)).toEqual([dan.me.memberId]);
    // Chloé's token has the scope admin, but her role does not.
    expect(await ids(chloe)).toEqual([chloe.me.memberId, chloe.me.memberId]);
    const writer = await world.token(orgId, ben.me.memberId, { scopes: ['write'] });
    expect(await ids(writer)).toEqual([ben.me.memberId, ben.me.memberId]);
    for (const person of [chloe, dan, writer])
      await expect(ids(person, { memberId: ana.me.memberId })).rejects.toMatchObject(refused(403, 'role'));
  });

  it('shows a bound token those alone that are bound to its projects', async () => {
    const { orgId, ben } = people;
    const web = await arrangeProject(world, orgId, 'WEB');
    const docs = await arrangeProject(world, orgId, 'DOCS');
    const bound = await world.token(orgId, ben.me.memberId, { projectIds: [web] });
    await world.token(orgId, ben.me.memberId, { projectIds: [web, docs] });
    const { items } = await bound.tokens.list();
    expect(items.map(({ projectIds }) => projectIds)).toEqual([[web]]);
    const { items: wider } = await ben.tokens.list({ memberId: ben.me.memberId, includeEnded: true });
    expect(wider).toHaveLength(3);
    for (const { id, projectIds } of wider.filter((one) => one.projectIds?.length !== 1)) {
      await expect(bound.tokens.revoke({ tokenId: id })).rejects.toMatchObject({ status: 404 });
      expect(projectIds?.length).not.toBe(1);
    }
  });

  it('says when each was used last', async () => {
    const { chloe } = people;
    await world.rows(
      `update tokens set last_used_at = '2026-11-20T08:00:00Z' where hash = $1`,
      hashToken(chloe.me.token),
    );
    const { items } = await chloe.tokens.list();
    expect(items.map(({ lastUsedAt }) => lastUsedAt)).toEqual([null, '2026-11-20T08:00:00.000Z']);
  });
});

describe('tokens.revoke', () => {
  it('ends it from the next call on, though the process remembers it', async () => {
    const { chloe } = people;
    const id = (await chloe.session.identity()).token.id;
    await chloe.session.identity();
    const other = await world.token(people.orgId, chloe.me.memberId, { scopes: ['write'] });
    const { token } = await other.tokens.revoke({ tokenId: id });
    expect(token).toMatchObject({ id, revokedAt: expect.any(String) });
    await expect(chloe.session.identity()).rejects.toMatchObject({ status: 401 });
    expect((await other.tokens.revoke({ tokenId: id })).token).toEqual(token);
  });

  it('takes the one that it is called with, too', async () => {
    const { dan } = people;
    const { token } = await dan.session.identity();
    await dan.tokens.revoke({ tokenId: token.id });
    await expect(dan.session.identity()).rejects.toMatchObject({ status: 401 });
  });

  it("ends any of the organization by an admin, and by others none but one's own", async () => {
    const { ana, ben, chloe, dan } = people;
    const theirs = await world.org();
    const idOf = async (person: typeof ana) => (await person.session.identity()).token.id;
    const danish = await idOf(dan);
    for (const tokenId of [danish, await idOf(ana), await idOf(theirs.chloe), newId()])
      await expect(chloe.tokens.revoke({ tokenId })).rejects.toMatchObject({ status: 404 });
    await expect(ben.tokens.revoke({ tokenId: await idOf(theirs.ana) })).rejects.toMatchObject({
      status: 404,
    });
    expect((await ben.tokens.revoke({ tokenId: danish })).token.memberId).toBe(dan.me.memberId);
    await expect(dan.session.identity()).rejects.toMatchObject({ status: 401 });
    expect(await idOf(theirs.ana)).toEqual(expect.any(String));
  });

  it('happens once when two do it', async () => {
    const { ana, ben, dan } = people;
    const tokenId = (await dan.session.identity()).token.id;
    const outcomes = await world.runUnderContention(
      { table: 'tokens', id: tokenId },
      () => ana.tokens.revoke({ tokenId }),
      () => ben.tokens.revoke({ tokenId }),
    );
    const [first, second] = outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value.token.revokedAt : null,
    );
    expect(first).toEqual(expect.any(String));
    expect(second).toBe(first);
  });
});
