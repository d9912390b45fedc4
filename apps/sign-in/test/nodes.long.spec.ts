/**
 * People in organizations on other database servers sign in like everyone else; their accounts are on the
 * primary server.
 */
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createPool, newId } from '@muster/driver';
import { joinNodes, moveOrganization, registerCopyReceiver } from '@muster/placement';
import { withTestTimeouts, type People, waitUntil, useWorld, type World } from '@muster/testing';
import { type Browser, useInstallation } from './installation.ts';

const east = useWorld({});
const installation = useInstallation({
  SIGN_UP: 'open',
  get DATABASE_NODES() {
    return `east=${east.database.url}`;
  },
});
const { world: home } = installation;
beforeAll(() => registerCopyReceiver(home.database.owner, { name: 'east', pool: east.database.owner }));

const createEastOrg = async (): Promise<People> => {
  const people = await east.org();
  const { orgId, slug } = people;
  await home.rows(`insert into app.org_places (org_id, node) values ($1, 'east')`, orgId);
  await home.rows('insert into app.claimed_slugs (slug, org_id) values ($1, $2)', slug, orgId);
  return people;
};

async function moveEast({ orgId }: People): Promise<void> {
  const nodes = joinNodes(withTestTimeouts(createPool({ url: home.database.url, role: null, max: 2 })), [
    { name: 'east', pool: withTestTimeouts(createPool({ url: east.database.url, role: null, max: 2 })) },
  ]);
  try {
    const [, to] = nodes;
    if (to !== undefined) await moveOrganization(nodes, { orgId, to });
  } finally {
    await Promise.all(nodes.map(({ pool }) => pool.end()));
  }
}

/** Waits until all servers are synchronized, which a person experiences as a delay of at most a second. */
const waitUntilSettled = () =>
  waitUntil(async () => {
    const left = await Promise.all([home, east].map((world) => world.rows('select from sign_in.unsent')));
    return left.flat().length === 0;
  });

let count = 0;
let email: string;
let eastPeople: People;
let homePeople: People;
beforeEach(async () => {
  email = `ana-${(count += 1)}@acme.example`;
  [eastPeople, homePeople] = [await createEastOrg(), await home.org()];
  const give = 'update members set email = $3 where org_id = $1 and id = $2';
  await east.rows(give, eastPeople.orgId, eastPeople.ana.me.memberId, email);
  await home.rows(give, homePeople.orgId, homePeople.chloe.me.memberId, email);
});

const signIn = async (address: string): Promise<Browser> => {
  const browser = await installation.signIn(address);
  await waitUntilSettled();
  return browser;
};

const sameOriginHeaders = { 'sec-fetch-site': 'same-origin' };
const identityStatusOf = async (browser: Browser, { orgId }: People): Promise<number> =>
  (await browser.call(orgId, 'session.identity')).status;

describe('a session', () => {
  it('is good in the organizations of every server, and names them all', async () => {
    const browser = await signIn(email);
    expect([
      await identityStatusOf(browser, eastPeople),
      await identityStatusOf(browser, homePeople),
    ]).toEqual([200, 200]);
    const { body } = await browser.open('/auth/session', sameOriginHeaders);
    const named = (body['organizations'] as { id: string }[]).map(({ id }) => id);
    expect(named.sort()).toEqual([eastPeople.orgId, homePeople.orgId].sort());
    expect(await identityStatusOf(browser, await createEastOrg())).toBe(401);
  });

  it('is good in an organization that has moved, of which the API remembers where it was', async () => {
    const browser = await signIn(email);
    const moved = await home.org();
    await home.rows('update members set email = $2 where id = $1', moved.dan.me.memberId, email);
    // The API caches that the organization is on the primary server.
    expect(await identityStatusOf(browser, moved)).toBe(200);
    await moveEast(moved);
    // A new session of the person is used, for which the API has cached nothing.
    expect(await identityStatusOf(await signIn(email), moved)).toBe(200);
  });

  it('goes on under its next secret alone', async () => {
    const browser = await signIn(email);
    const before = browser.session();
    expect(await identityStatusOf(browser, eastPeople)).toBe(200);
    await installation.signIn(email, browser);
    await waitUntilSettled();
    expect(await identityStatusOf(browser, eastPeople)).toBe(200);
    const thief = installation.browser();
    thief.cookies.set('muster', before);
    expect(await identityStatusOf(thief, eastPeople)).toBe(401);
  });

  it('that its person ends is over at every server', async () => {
    const browser = await signIn(email);
    const thief = installation.browser();
    thief.cookies.set('muster', browser.session());
    expect([await identityStatusOf(thief, eastPeople), await identityStatusOf(thief, homePeople)]).toEqual([
      200, 200,
    ]);
    expect((await browser.submit('/auth/sign-out', {})).status).toBe(303);
    await waitUntilSettled();
    expect([await identityStatusOf(thief, eastPeople), await identityStatusOf(thief, homePeople)]).toEqual([
      401, 401,
    ]);
  });

  it('that a member ends in an organization is over there at once, and soon at home', async () => {
    const browser = await signIn(email);
    expect([
      await identityStatusOf(browser, eastPeople),
      await identityStatusOf(browser, homePeople),
    ]).toEqual([200, 200]);
    const { body } = await browser.call(eastPeople.orgId, 'sessions.list');
    const [{ id: sessionId } = { id: '' }] = body['items'] as { id: string }[];
    expect((await browser.call(eastPeople.orgId, 'sessions.revoke', { sessionId })).body).toEqual({
      ended: 1,
    });
    expect(await identityStatusOf(browser, eastPeople)).toBe(401);
    await waitUntil(async () => (await identityStatusOf(browser, homePeople)) === 401);
    expect((await browser.open('/auth/session', sameOriginHeaders)).status).toBe(401);
  });
});

const invite = (world: World, { orgId }: People, who: { id: string; email: string }) =>
  world.rows(
    `insert into invitations (org_id, id, email, role, token_hash, expires_at, invited_by)
     values ($1, $2, $3::text, 'member', sha256($3::text::bytea), now() + interval '1 day', '{"name": "Ana"}')`,
    ...[orgId, who.id, who.email],
  );

describe('an account', () => {
  it('is invited into an organization of another server, and joins it', async () => {
    const invited = `eve-${count}@acme.example`;
    const id = newId();
    await invite(east, eastPeople, { id, email: invited });
    const browser = await signIn(invited);
    expect((await browser.open('/sign-in/invitations')).text).toContain('Acme');
    expect(
      (await browser.submit('/invitations/join', { organization: eastPeople.orgId, invitation: id })).status,
    ).toBe(303);
    expect(await identityStatusOf(browser, eastPeople)).toBe(200);
  });

  it('joins an organization that has moved, of which the API remembers where it was', async () => {
    const invited = `fay-${count}@acme.example`;
    const moved = await home.org();
    const id = newId();
    await invite(home, moved, { id, email: invited });
    const browser = await signIn(invited);
    // The API caches that the organization is on the primary server.
    await home.rows('update members set email = $2 where id = $1', moved.dan.me.memberId, email);
    expect(await identityStatusOf(await signIn(email), moved)).toBe(200);
    await moveEast(moved);
    const joined = await browser.submit('/invitations/join', { organization: moved.orgId, invitation: id });
    expect(joined.status).toBe(303);
    expect(await identityStatusOf(browser, moved)).toBe(200);
  });

  it('begins an organization at a server that takes new ones, and one alone', async () => {
    await home.rows(`insert into app.closed_nodes (node) values ('home') on conflict do nothing`);
    const browser = await installation.signIn(`founder-${count}@acme.example`);
    const begin = (name: string) => browser.submit('/auth/organization', { name });
    expect((await begin('Founded')).status).toBe(303);
    const [org] = await east.rows<{ id: string }>(`select id from orgs where name = 'Founded'`);
    expect((await browser.call(org?.id ?? '', 'session.identity')).status).toBe(200);
    await home.rows('delete from app.closed_nodes');
    expect((await begin('Another')).text).toContain('You already own an organization');
    expect(await home.rows(`select from orgs where name = 'Another'`)).toEqual([]);
  });
});
