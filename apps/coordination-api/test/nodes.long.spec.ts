/**
 * Organizations on separate database servers: callers notice no difference, and an outage affects only the
 * organizations on that server.
 */
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { createPool, type Pool } from '@muster/driver';
import { type AllHandlers, handlers, reactions, withInternalHandlers } from '@muster/operations';
import {
  createOrganization,
  grantPlatformAccess,
  revokeToken,
  registerPlatformTokensOnAllNodes,
} from '@muster/organizations';
import { allNodes, joinNodes } from '@muster/placement';
import { findFreePort, type PeopleOf, useWorld, type World } from '@muster/testing';
import { type ApiInstance, useApi } from './api.ts';

const api = useApi();
const east = useWorld(withInternalHandlers(handlers), reactions);

let over: ApiInstance;
beforeAll(async () => {
  over = await api.startReplica({ DATABASE_NODES: `east=${east.database.url}` });
});

/** Records on the primary server that an organization is on a node. */
const assignToNode = async (
  node: string,
  { orgId, slug }: Pick<PeopleOf<typeof east>, 'orgId' | 'slug'>,
): Promise<void> => {
  await api.world.rows('insert into app.org_places (org_id, node) values ($1, $2)', orgId, node);
  await api.world.rows('insert into app.claimed_slugs (slug, org_id) values ($1, $2)', slug, orgId);
};

const createEastOrg = async (): Promise<PeopleOf<typeof east>> => {
  const people = await east.org();
  await assignToNode('east', people);
  return people;
};

describe('an organization on a node', () => {
  let people: PeopleOf<typeof east>;
  beforeEach(async () => {
    people = await createEastOrg();
  });

  it('is written and read there, and home has nothing of it', async () => {
    const ana = over.client(people.ana.me.token);
    const { project } = await ana.projects.create({ key: 'WEB', name: 'Website' });
    await ana.stories.create({ projectId: project.id, title: 'Say hello' });
    expect((await ana.stories.list({ projectId: 'WEB' })).items.map(({ title }) => title)).toEqual([
      'Say hello',
    ]);
    expect(await east.rows('select title from stories where org_id = $1', people.orgId)).toEqual([
      { title: 'Say hello' },
    ]);
    expect(await api.world.rows('select from stories where org_id = $1', people.orgId)).toEqual([]);
  });

  it('keeps its members out of what is at home, by the same ids', async () => {
    const home = await api.org();
    const { project } = await over.client(home.ana.me.token).projects.create({ key: 'WEB', name: 'Website' });
    const { status } = await over.call(people.ana.me.token, 'projects.get', { projectId: project.id });
    expect(status).toBe(404);
    expect(await east.rows('select from projects where id = $1', project.id)).toEqual([]);
  });

  it('answers a repeated key once', async () => {
    const { ana } = people;
    const key = { 'idempotency-key': 'the same' };
    const ask = () => over.call(ana.me.token, 'projects.create', { key: 'WEB', name: 'Website' }, key);
    const [first, second] = [await ask(), await ask()];
    expect([first.status, second.text]).toEqual([200, first.text]);
  });

  it('wakes those who wait for its events', async () => {
    const ana = over.client(people.ana.me.token);
    const { cursor } = await ana.events.list({});
    const waiting = ana.events.list({ after: cursor, waitSeconds: 25 });
    await over.client(people.ben.me.token).projects.create({ key: 'WEB', name: 'Website' });
    expect((await waiting).items.map(({ kind }) => kind)).toContain('project.created');
  });

  it('takes in those whom it invited', async () => {
    await over.client(people.ana.me.token).members.invite({ email: 'eve@example.com' });
    const secret = 'inv_' + 'e'.repeat(32);
    await east.rows(`update invitations set token_hash = sha256($1) where org_id = $2`, secret, people.orgId);
    const accepted = await over.request('/invitations/accept', { body: { token: secret, name: 'Eve' } });
    expect(accepted.status).toBe(200);
    const unknown = 'inv_' + 'f'.repeat(32);
    expect(
      (await over.request('/invitations/accept', { body: { token: unknown, name: 'Eve' } })).status,
    ).toBe(404);
  });

  it('has a slug that no other organization gets, wherever that is', async () => {
    const home = await api.org();
    const rename = (whose: PeopleOf<typeof east>, slug: string) =>
      over.call(whose.ana.me.token, 'orgs.update', { slug }).then(({ status }) => status);
    expect(await rename(home, people.slug)).toBe(409);
    expect(await rename(people, home.slug)).toBe(409);
    expect(await rename(people, `${people.slug}-x`)).toBe(200);
    expect(await rename(await createEastOrg(), `${people.slug}-x`)).toBe(409);
    expect(await rename(home, `${people.slug}-x`)).toBe(409);
  });

  it('lets nobody in by a token that was revoked', async () => {
    const ana = over.client(people.ana.me.token);
    await ana.session.identity({});
    await east.rows('update tokens set revoked_at = now() where org_id = $1', people.orgId);
    expect((await over.call(people.ana.me.token, 'session.identity')).status).toBe(401);
  });
});

describe('a node that is away', () => {
  it('is missed by its own organizations alone, and health says which it is', async () => {
    const [people, home] = [await east.org(), await api.org()];
    await assignToNode('west', people);
    const away = await api.startReplica({
      DATABASE_NODES: `east=${east.database.url},west=postgres://nobody@127.0.0.1:${await findFreePort()}/muster`,
    });
    const answered = await away.call(people.ana.me.token, 'session.identity');
    expect([answered.status, answered.body.details?.reason]).toEqual([503, 'database']);
    expect((await away.call(home.ana.me.token, 'session.identity')).status).toBe(200);
    expect((await away.call((await createEastOrg()).ana.me.token, 'session.identity')).status).toBe(200);
    const ready = await away.request('/readyz', { method: 'GET' });
    expect([ready.status, ready.body]).toEqual([
      200,
      { status: 'degraded', checks: { postgres: 'ok', 'postgres east': 'ok', 'postgres west': 'away' } },
    ]);
    await away.stop();
  });
});

const ownerPool = (): Pool => {
  const home = createPool({ url: api.world.database.url, role: null, max: 2 });
  joinNodes(home, [{ name: 'east', pool: createPool({ url: east.database.url, role: null, max: 2 }) }]);
  return home;
};

type OrgsPage = Awaited<ReturnType<Client['admin']['platform']['orgs']>>;

describe('an operator of the installation', () => {
  it('sees what every server has, page by page, and nobody else does', async () => {
    const [there, here] = [await createEastOrg(), await api.org()];
    const same = 'update members set email = $2, name = $3 where id = $1';
    await east.rows(same, there.ben.me.memberId, 'bo@both.example', 'Bo');
    await api.world.rows(same, here.ben.me.memberId, 'bo@both.example', 'Bo');
    const pool = ownerPool();
    const { slug: org } = there;
    const { token } = await grantPlatformAccess(pool, { org, member: 'ana@example.com' });
    await Promise.all(allNodes(pool).map((node) => node.pool.end()));
    const operator = over.client(token);
    const all: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: OrgsPage = await operator.admin.platform.orgs({
        limit: 1,
        ...(cursor !== '' && { cursor }),
      });
      all.push(...page.items.map(({ slug }) => slug));
      cursor = page.nextCursor;
    }
    const slugs = async (world: World<AllHandlers>) =>
      (await world.rows<{ slug: string }>('select slug from orgs')).map(({ slug }) => slug);
    expect(all).toEqual([...(await slugs(east)), ...(await slugs(api.world))].sort());
    const { items } = await operator.admin.platform.accounts({ query: 'bo@both', limit: 10 });
    expect(items.map(({ memberships }) => memberships.map(({ orgSlug }) => orgSlug))).toEqual([
      [there.slug, here.slug].sort(),
    ]);
    const { metrics } = await operator.admin.platform.metrics({});
    expect([metrics.orgs, metrics.estimated]).toEqual([all.length, expect.arrayContaining(['accounts'])]);
    const refused = await over.call(there.ana.me.token, 'admin.platform.orgs');
    expect([refused.status, refused.body.details?.reason]).toEqual([403, 'scope']);
    await east.rows(`update tokens set revoked_at = now() where 'platform' = any (scopes)`);
    expect((await over.call(token, 'admin.platform.orgs')).status).toBe(401);
  });
});

describe('a token of an operator', () => {
  const knownAt = ({ rows }: World<AllHandlers>, id: string) =>
    rows('select from app.platform_passes where token_id = $1', id);

  it('that was made before a server was added is known there from the next migration on, and to none once it is revoked', async () => {
    const { slug: org } = await api.org();
    const home = createPool({ url: api.world.database.url, role: null, max: 2 });
    const { id, token } = await grantPlatformAccess(home, { org, member: 'ana@example.com' });
    await home.end();
    expect((await over.call(token, 'admin.platform.orgs')).status).toBe(403);
    const pool = ownerPool();
    try {
      await registerPlatformTokensOnAllNodes(pool);
      expect((await over.call(token, 'admin.platform.orgs')).status).toBe(200);
      await revokeToken(pool, { org, tokenId: id });
      expect([await knownAt(east, id), await knownAt(api.world, id)]).toEqual([[], []]);
    } finally {
      await Promise.all(allNodes(pool).map((node) => node.pool.end()));
    }
  });

  it('is shown also where a server is away, which is named', async () => {
    const { slug: org } = await api.org();
    const pool = createPool({ url: api.world.database.url, role: null, max: 2 });
    const gone = createPool({ url: 'postgres://nobody@127.0.0.1:1/none', role: null, max: 1 });
    joinNodes(pool, [{ name: 'west', pool: gone }]);
    try {
      const shown = await grantPlatformAccess(pool, { org, member: 'ana@example.com' });
      expect(shown.without).toEqual(['west']);
      expect(await knownAt(api.world, shown.id)).toHaveLength(1);
    } finally {
      await Promise.all(allNodes(pool).map((node) => node.pool.end()));
    }
  });
});

describe('a new organization', () => {
  const make = (pool: Pool, slug: string, node?: string) =>
    createOrganization(pool, {
      ...{ slug, name: 'Acme', owner: { email: 'ana@example.com', name: 'Ana' } },
      ...(node !== undefined && { node }),
    });

  it('comes to be at the server that is named, else at the least full one that takes any', async () => {
    const pool = ownerPool();
    try {
      const { org } = await make(pool, 'named', 'east');
      expect(await east.rows('select slug from orgs where id = $1', org.id)).toEqual([{ slug: 'named' }]);
      await expect(make(pool, 'named', 'home')).rejects.toMatchObject({ code: 'conflict' });
      await expect(make(pool, 'lost', 'nowhere')).rejects.toMatchObject({ code: 'not_found' });
      await api.world.rows(`insert into app.closed_nodes (node) values ('home')`);
      const { org: other } = await make(pool, 'least-full');
      expect(await east.rows('select from orgs where id = $1', other.id)).toHaveLength(1);
      await api.world.rows('delete from app.closed_nodes');
    } finally {
      await Promise.all(allNodes(pool).map((node) => node.pool.end()));
    }
  });
});
