import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PeopleOf, useWorld } from '@muster/testing';
import { organizationsHandlers } from '../index.ts';
import { addMember, listMembers } from './members.ts';
import { createOrganization, listOrganizations } from './organizations.ts';
import { createToken, grantPlatformAccess, listTokens, revokeToken } from './tokens.ts';

const world = useWorld(organizationsHandlers);
const pool = () => world.database.owner;
const freshSlug = () => `acme-${newId().slice(-12)}`;
const createTestOrganization = (setUp: { seats?: number; plan?: 'free' | 'team' | 'enterprise' } = {}) =>
  createOrganization(pool(), {
    name: 'Acme',
    slug: freshSlug(),
    owner: { email: 'ana@acme.example', name: 'Ana' },
    ...setUp,
  });
const createProject = async (
  { orgId }: Pick<PeopleOf<typeof world>, 'orgId'>,
  key: string,
): Promise<string> => {
  const id = newId();
  await world.rows(
    `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, $3, 'P', 'org', 'hosted')`,
    orgId,
    id,
    key,
  );
  return id;
};
const auditOf = (orgId: string) =>
  world.rows<{
    seq: number;
    actor: unknown;
    operation: string;
    target: string;
    outcome: string;
    token_id: string | null;
  }>(
    'select seq, actor, operation, target, outcome, token_id from audit where org_id = $1 order by seq',
    orgId,
  );

describe('createOrganization', () => {
  it('makes an organization that its owner can work in at once', async () => {
    const { org, owner } = await createTestOrganization();
    expect(owner).toMatchObject({
      email: 'ana@acme.example',
      handle: 'ana',
      role: 'owner',
      status: 'active',
      version: 1,
    });
    const { id } = await createToken(pool(), {
      org: org.slug,
      member: owner.email,
      name: 'laptop',
      scopes: ['admin'],
    });
    const ana = await world.token(org.id, owner.id);
    const me = await ana.session.identity();
    expect(me.org).toEqual(org);
    expect(me.member).toEqual(owner);
    expect(me.entitlement).toMatchObject({
      plan: 'free',
      status: 'active',
      limits: { seats: 5 },
      usage: { seats: 1 },
    });
    expect((await listTokens(pool(), { org: org.slug })).map((token) => token.id)).toContain(id);
  });

  it('answers a slug that is taken with already_exists, and leaves nothing behind', async () => {
    const { org } = await createTestOrganization();
    const again = createOrganization(pool(), {
      name: 'Other',
      slug: org.slug,
      owner: { email: 'ben@acme.example', name: 'Ben' },
    });
    await expect(again).rejects.toMatchObject({ code: 'conflict', details: { reason: 'already_exists' } });
    expect(await world.rows(`select from members where email = 'ben@acme.example'`)).toEqual([]);
  });

  it('sells no more seats than the plan has', async () => {
    await expect(createTestOrganization({ plan: 'free', seats: 6 })).rejects.toMatchObject({
      details: { reason: 'limit_exceeded' },
    });
    expect((await createTestOrganization({ plan: 'enterprise', seats: 5_000 })).org.version).toBe(1);
  });

  it('names every field that does not fit', async () => {
    const wrong = createOrganization(pool(), {
      name: ' ',
      slug: 'No!',
      owner: { email: 'ana', name: 'Ana' },
    });
    await expect(wrong).rejects.toMatchObject({
      code: 'bad_request',
      details: { issues: [{ path: 'name' }, { path: 'slug' }, { path: 'owner.email' }] },
    });
  });

  it('lists organizations by slug, with what they bought', async () => {
    const { org } = await createTestOrganization({ plan: 'team', seats: 7 });
    const slugs = await listOrganizations(pool());
    expect(slugs.find((line) => line.slug === org.slug)).toMatchObject({
      plan: 'team',
      seats: 7,
      name: 'Acme',
    });
    expect(slugs.map((line) => line.slug)).toEqual(slugs.map((line) => line.slug).sort());
  });
});

describe('addMember', () => {
  it('gives each member a handle of their own', async () => {
    const { org } = await createTestOrganization({ plan: 'team' });
    const handles: string[] = [];
    for (const email of ['a@acme.example', 'b@acme.example', 'c@acme.example']) {
      const { member } = await addMember(pool(), { org: org.slug, email, name: 'Ana', role: 'member' });
      handles.push(member.handle);
    }
    expect(handles).toEqual(['ana-2', 'ana-3', 'ana-4']);
    expect((await listMembers(pool(), { org: org.slug })).map((member) => member.handle)).toEqual([
      'ana',
      ...handles,
    ]);
  });

  it('takes a seat for all but viewers, and refuses when none is free', async () => {
    const { org } = await createTestOrganization({ seats: 2 });
    const add = (name: string, role: 'admin' | 'member' | 'viewer') =>
      addMember(pool(), { org: org.slug, email: `${name}@acme.example`, name, role });
    await add('ben', 'admin');
    await expect(add('chloe', 'member')).rejects.toMatchObject({
      code: 'unprocessable',
      details: { reason: 'seats_exhausted', purchased: 2, used: 2, pending: 0 },
    });
    expect((await add('dan', 'viewer')).member.role).toBe('viewer');
  });

  it('never gives one seat twice, however many ask at once', async () => {
    const { org } = await createTestOrganization({ seats: 3 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) =>
        addMember(pool(), {
          org: org.slug,
          email: `m${index}@acme.example`,
          name: 'Same Name',
          role: 'member',
        }),
      ),
    );
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(2);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({ details: { reason: 'seats_exhausted' } });
    }
    // The stream has no gaps, because refused calls used no number.
    expect((await auditOf(org.id)).map((entry) => entry.seq)).toEqual([1, 2, 3]);
  });

  it('knows an address again in any case', async () => {
    const { org } = await createTestOrganization();
    const again = addMember(pool(), {
      org: org.slug,
      email: 'ANA@acme.example',
      name: 'Ana',
      role: 'viewer',
    });
    await expect(again).rejects.toMatchObject({ details: { reason: 'already_exists' } });
  });

  it('says which organization there is not', async () => {
    const lost = addMember(pool(), { org: 'nowhere', email: 'a@b.example', name: 'A', role: 'viewer' });
    await expect(lost).rejects.toMatchObject({
      code: 'not_found',
      message: 'There is no organization "nowhere".',
    });
  });
});

describe('tokens', () => {
  it('shows the secret once and keeps only its hash', async () => {
    const { org } = await createTestOrganization();
    const { token, id } = await createToken(pool(), {
      org: org.slug,
      member: 'Ana@acme.example',
      name: 'laptop',
      scopes: ['read', 'write', 'read'],
    });
    expect(token).toMatch(/^must_live_[0-9A-Za-z]{38}$/);
    const everything = JSON.stringify([
      await world.rows('select * from tokens where org_id = $1', org.id),
      await world.rows('select * from audit where org_id = $1', org.id),
      await listTokens(pool(), { org: org.slug }),
    ]);
    expect(everything).not.toContain(token.slice(10, 30));
    const [line] = await listTokens(pool(), { org: org.slug });
    expect(line).toMatchObject({
      id,
      name: 'laptop',
      member: 'ana@acme.example',
      agent: null,
      scopes: ['read', 'write'],
      lastFour: token.slice(-4),
      lastUsedAt: null,
      revokedAt: null,
    });
    expect(JSON.stringify(line)).not.toContain('hash');
  });

  const daysLeft = (expiresAt: string) => Math.round((Date.parse(expiresAt) - Date.now()) / 86_400_000);

  it("ends an agent's token within 90 days, and any other after a year unless said", async () => {
    const { org } = await createTestOrganization();
    const create = (rest: { agent?: string; expiresInDays?: number }) =>
      createToken(pool(), {
        org: org.slug,
        member: 'ana@acme.example',
        name: 't',
        scopes: ['write'],
        ...rest,
      });
    expect(daysLeft((await create({})).expiresAt)).toBe(365);
    expect(daysLeft((await create({ expiresInDays: 2 })).expiresAt)).toBe(2);
    expect(daysLeft((await create({ agent: 'Robo' })).expiresAt)).toBe(90);
    await expect(create({ agent: 'Robo', expiresInDays: 91 })).rejects.toMatchObject({
      details: { issues: [{ path: 'expiresInDays', message: "an agent's token expires within 90 days" }] },
    });
    // There is one agent, although it had several tokens.
    expect(await world.rows('select name from agents where org_id = $1', org.id)).toEqual([{ name: 'Robo' }]);
  });

  it('makes none for an agent that was retired', async () => {
    const { org } = await createTestOrganization();
    const create = () =>
      createToken(pool(), {
        ...{ org: org.slug, member: 'ana@acme.example', name: 't', scopes: ['write'], agent: 'Robo' },
      });
    await create();
    await world.rows('update agents set retired_at = now() where org_id = $1', org.id);
    await expect(create()).rejects.toMatchObject({ details: { reason: 'agent_retired' } });
    expect(
      await world.rows('select from tokens where org_id = $1 and revoked_at is null', org.id),
    ).toHaveLength(0);
  });

  it('binds a token to projects by their keys', async () => {
    const people = await world.org();
    const web = await createProject(people, 'WEB');
    const create = (projects: string[]) =>
      createToken(pool(), {
        org: people.slug,
        member: 'chloe@example.com',
        name: 't',
        scopes: ['read'],
        projects,
      });
    const { id } = await create(['WEB']);
    expect(await world.rows('select project_ids from tokens where id = $1', id)).toEqual([
      { project_ids: [web] },
    ]);
    await expect(create(['WEB', 'APP'])).rejects.toMatchObject({
      code: 'not_found',
      message: `There is no project APP in ${people.slug}.`,
    });
  });

  it('gives platform apart from every other scope', async () => {
    const { org } = await createTestOrganization();
    const { id } = await grantPlatformAccess(pool(), { org: org.slug, member: 'ana@acme.example' });
    expect((await listTokens(pool(), { org: org.slug }))[0]).toMatchObject({ id, scopes: ['platform'] });
    const smuggled = ['platform'] as unknown as 'read'[];
    await expect(
      createToken(pool(), { org: org.slug, member: 'ana@acme.example', name: 't', scopes: smuggled }),
    ).rejects.toMatchObject({ code: 'bad_request' });
  });

  it('revokes a token once, and only within its organization', async () => {
    const [{ org }, { org: other }] = await Promise.all([createTestOrganization(), createTestOrganization()]);
    const { id: tokenId } = await createToken(pool(), {
      org: org.slug,
      member: 'ana@acme.example',
      name: 't',
      scopes: ['read'],
    });
    await expect(revokeToken(pool(), { org: other.slug, tokenId })).rejects.toMatchObject({
      code: 'not_found',
    });
    const first = await revokeToken(pool(), { org: org.slug, tokenId });
    expect(await revokeToken(pool(), { org: org.slug, tokenId })).toEqual(first);
    expect((await auditOf(org.id)).map((entry) => entry.operation)).toEqual([
      'operators.createOrganization',
      'operators.createToken',
      'operators.revokeToken',
    ]);
  });

  it('leaves an audit entry of the system for each write', async () => {
    const { org } = await createTestOrganization();
    const { id } = await grantPlatformAccess(pool(), { org: org.slug, member: 'ana@acme.example' });
    expect((await auditOf(org.id)).at(-1)).toEqual({
      seq: 2,
      actor: { kind: 'system', memberId: null, agentId: null, name: 'operator' },
      operation: 'operators.grantPlatform',
      target: id,
      outcome: 'allowed',
      token_id: null,
    });
  });
});
