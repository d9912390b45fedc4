/** Tests sessions: the organizations that a session may access, the requests that it may make, and its end. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type People } from '@muster/testing';
import { type Browser, useInstallation } from './installation.ts';

const installation = useInstallation();
const { world } = installation;

let count = 0;
let people: People;
let email: string;
let browser: Browser;
const give = (orgId: string, memberId: string, address: string) =>
  world.rows('update members set email = $3 where org_id = $1 and id = $2', orgId, memberId, address);
beforeEach(async () => {
  people = await world.org();
  email = `ana-${(count += 1)}@acme.example`;
  await give(people.orgId, people.ana.me.memberId, email);
  browser = await installation.signIn(email);
});

describe('a session', () => {
  it('acts as its member, with all that the role may do', async () => {
    const { orgId, ana } = people;
    const { status, body } = await browser.call(orgId, 'session.identity');
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ member: expect.objectContaining({ id: ana.me.memberId, email }) }),
    ]);
    expect((await browser.call(orgId, 'orgs.update', { name: 'By cookie' })).status).toBe(200);
    const [entry] = await world.rows<{ operation: string; tokenId: string }>(
      `select operation, token_id as "tokenId" from audit where org_id = $1 and operation = 'orgs.update'`,
      orgId,
    );
    const tokens = await world.rows<{ id: string }>(
      `select id from tokens where org_id = $1 and kind = 'session'`,
      orgId,
    );
    expect(tokens).toEqual([{ id: entry?.tokenId }]);
  });

  it('has one token in each organization, however many calls come at once', async () => {
    const { orgId } = people;
    const calls = await Promise.all(Array.from({ length: 8 }, () => browser.call(orgId, 'session.identity')));
    expect(calls.map(({ status }) => status)).toEqual(calls.map(() => 200));
    expect(
      await world.rows(`select id from tokens where org_id = $1 and kind = 'session'`, orgId),
    ).toHaveLength(1);
  });

  it('lets nobody into an organization in which its person is not, or not any more', async () => {
    const other = await world.org();
    expect((await browser.call(other.orgId, 'session.identity')).status).toBe(401);
    const { orgId, ben } = people;
    const bens = `ben-${count}@acme.example`;
    await give(orgId, ben.me.memberId, bens);
    const ofBen = await installation.signIn(bens);
    expect((await ofBen.call(orgId, 'session.identity')).status).toBe(200);
    await world.rows(`update members set status = 'removed' where id = $1`, ben.me.memberId);
    await world.rows('select app.release_member($1, $2)', orgId, ben.me.memberId);
    expect((await ofBen.call(orgId, 'session.identity')).status).toBe(401);
  });

  it('is refused from the next call on, everywhere, once it is ended', async () => {
    const { orgId } = people;
    const other = await world.org();
    await give(other.orgId, other.chloe.me.memberId, email);
    for (const id of [orgId, other.orgId])
      expect((await browser.call(id, 'session.identity')).status).toBe(200);
    const { body } = await browser.call(orgId, 'sessions.list');
    expect(body['items']).toEqual([
      expect.objectContaining({ current: true, userAgent: 'Spec 1.0', ip: '127.0.0.1' }),
    ]);
    const [{ id: sessionId } = { id: '' }] = body['items'] as { id: string }[];
    expect((await browser.call(orgId, 'sessions.revoke', { sessionId })).body).toEqual({ ended: 1 });
    for (const id of [orgId, other.orgId])
      expect((await browser.call(id, 'session.identity')).status).toBe(401);
    expect((await browser.open('/auth/session', { 'sec-fetch-site': 'same-origin' })).status).toBe(401);
  });

  it('ends all others of its person, and none of anybody else', async () => {
    const { orgId, ben } = people;
    await give(orgId, ben.me.memberId, `ben-${count}@acme.example`);
    const [second, ofBen] = [
      await installation.signIn(email),
      await installation.signIn(`ben-${count}@acme.example`),
    ];
    const alive = async () =>
      Promise.all(
        [browser, second, ofBen].map(async (one) => (await one.call(orgId, 'session.identity')).status),
      );
    expect(await alive()).toEqual([200, 200, 200]);
    const { body } = await ofBen.call(orgId, 'sessions.list');
    const [{ id: sessionId } = { id: '' }] = body['items'] as { id: string }[];
    expect((await browser.call(orgId, 'sessions.revoke', { sessionId })).status).toBe(404);
    expect((await browser.call(orgId, 'sessions.revokeOthers')).body).toEqual({ ended: 1 });
    expect(await alive()).toEqual([200, 401, 200]);
  });

  it('ends with signing out', async () => {
    const secret = browser.session();
    await browser.call(people.orgId, 'session.identity');
    expect(await browser.submit('/auth/sign-out', {})).toMatchObject({ status: 303, location: '/sign-in' });
    expect(browser.cookies.has('muster')).toBe(false);
    browser.cookies.set('muster', secret);
    expect((await browser.call(people.orgId, 'session.identity')).status).toBe(401);
  });

  it('ends after thirty days without use, and after ninety in any case', async () => {
    const { orgId } = people;
    await browser.call(orgId, 'session.identity');
    const [row] = await world.rows<{ idle: number; most: number; token: number }>(
      `select round(extract(epoch from s.expires_at - now()) / 86400) as idle, round(extract(epoch from s.ends_at - now()) / 86400) as most,
         round(extract(epoch from t.expires_at - now()) / 86400) as token
       from tokens t join sign_in.sessions s on s.id = t.session_id where t.org_id = $1`,
      orgId,
    );
    expect(Object.values(row ?? {}).map(Number)).toEqual([30, 90, 30]);
  });

  it('is refused once it was not used for thirty days, everywhere', async () => {
    const { orgId } = people;
    expect((await browser.call(orgId, 'session.identity')).status).toBe(200);
    await world.rows(
      `update sign_in.sessions s set expires_at = now() from sign_in.accounts a where a.id = s.account_id and a.email = $1`,
      email,
    );
    await world.rows(`update tokens set expires_at = now() where org_id = $1 and kind = 'session'`, orgId);
    expect((await browser.call(orgId, 'session.identity')).status).toBe(401);
    expect((await browser.open('/auth/session', { 'sec-fetch-site': 'same-origin' })).status).toBe(401);
    expect((await browser.open('/sign-in')).text).not.toContain(email);
  });

  it('lasts no longer than its ninety days by another proof', async () => {
    await world.rows(
      `update sign_in.sessions s set ends_at = now() + interval '3 days', expires_at = now() + interval '3 days'
       from sign_in.accounts a where a.id = s.account_id and a.email = $1`,
      email,
    );
    await installation.signIn(email, browser);
    const { body } = await browser.open('/auth/session', { 'sec-fetch-site': 'same-origin' });
    const { expiresAt } = body['session'] as { expiresAt: string };
    expect(Math.round((Date.parse(expiresAt) - Date.now()) / 86_400_000)).toBe(3);
  });

  it('is kept from scripts and from requests of other sites by its cookie', async () => {
    const other = installation.browser();
    await other.submit('/auth/link', { email, by: 'mail' });
    const { token } = await installation.link(email, 2);
    const { headers } = await other.submit('/auth/link/use', { token });
    const set = [headers['set-cookie'] ?? []].flat().find((line) => line.startsWith('muster='));
    expect(set?.split('; ').slice(1).toSorted()).toEqual([
      'HttpOnly',
      'Max-Age=7776000',
      'Path=/',
      'SameSite=Lax',
    ]);
  });

  it('has its secret in the cookie alone', async () => {
    const { headers } = await installation.browser().open('/sign-in');
    expect(headers['set-cookie']).toBeUndefined();
    const secret = browser.session();
    await browser.call(people.orgId, 'session.identity');
    const rows = await world.rows<{ text: string }>(
      `select s::text as text from sign_in.sessions s union all select t::text from tokens t where t.kind = 'session'`,
    );
    for (const { text } of rows) expect(text).not.toContain(Buffer.from(secret).toString('hex'));
    for (const { text } of rows) expect(text).not.toContain(secret);
  });
});

describe('after another proof', () => {
  it('the session goes on under another secret, and the one before is refused at once', async () => {
    const { orgId } = people;
    const before = browser.session();
    await browser.call(orgId, 'session.identity');
    await installation.signIn(email, browser);
    expect(browser.session()).not.toBe(before);
    expect((await browser.call(orgId, 'session.identity')).status).toBe(200);
    const { body } = await browser.call(orgId, 'sessions.list');
    expect(body['items']).toHaveLength(1);
    const old = installation.browser();
    old.cookies.set('muster', before);
    expect((await old.call(orgId, 'session.identity')).status).toBe(401);
    expect(
      await world.rows(`select id from tokens where org_id = $1 and kind = 'session'`, orgId),
    ).toHaveLength(1);
  });

  it('a secret that was there before signing in is not the one after it', async () => {
    const planted = installation.browser();
    planted.cookies.set('muster', 'A'.repeat(43));
    await installation.signIn(email, planted);
    expect(planted.session()).not.toBe('A'.repeat(43));
  });

  it('by another person the session of the first one is over', async () => {
    const { orgId, ben } = people;
    await give(orgId, ben.me.memberId, `ben-${count}@acme.example`);
    const before = browser.session();
    await installation.signIn(`ben-${count}@acme.example`, browser);
    const { body } = await browser.call(orgId, 'session.identity');
    expect(body['member']).toMatchObject({ id: ben.me.memberId });
    browser.cookies.set('muster', before);
    expect((await browser.call(orgId, 'session.identity')).status).toBe(401);
  });
});

describe('what is dangerous in the wrong hands', () => {
  const make = (one: Browser) =>
    one.call(people.orgId, 'tokens.create', { name: 'Laptop', scopes: ['write'], expiresInDays: 200 });

  it('a session does soon after it was proven, and the token that it makes outlives it', async () => {
    const { status, body } = await make(browser);
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ secret: expect.stringMatching(/^must_/) }),
    ]);
    const { expiresAt } = body['token'] as { expiresAt: string };
    expect(Math.round((Date.parse(expiresAt) - Date.now()) / 86_400_000)).toBe(200);
  });

  it('it does not later, until its person signs in again', async () => {
    await world.rows(`update sign_in.sessions set proven_at = now() - interval '11 minutes'`);
    const refused = await make(browser);
    expect([refused.status, refused.body]).toEqual([
      403,
      expect.objectContaining({
        details: expect.objectContaining({ reason: 'proof_needed', at: '/sign-in?again', minutes: 10 }),
      }),
    ]);
    expect((await browser.call(people.orgId, 'orgs.update', { name: 'Not dangerous' })).status).toBe(200);
    const page = await browser.open('/sign-in?again');
    expect(page.text).toContain('E-mail me a sign-in link');
    await installation.signIn(email, browser);
    expect((await make(browser)).status).toBe(200);
  });

  it('an admin by a session makes no token that its member may not have', async () => {
    const { orgId, chloe } = people;
    await give(orgId, chloe.me.memberId, `chloe-${count}@acme.example`);
    const ofChloe = await installation.signIn(`chloe-${count}@acme.example`);
    const { status, body } = await ofChloe.call(orgId, 'tokens.create', { name: 'More', scopes: ['admin'] });
    expect([status, body]).toEqual([
      403,
      expect.objectContaining({ details: expect.objectContaining({ reason: 'role' }) }),
    ]);
    expect((await ofChloe.call(orgId, 'policy.update', { requiredApprovals: 2 })).status).toBe(403);
  });
});

describe('a cookie counts for no request', () => {
  const cases: [string, Record<string, string | undefined>, number, string][] = [
    ['of a page of another site', { 'sec-fetch-site': 'cross-site' }, 403, 'other_origin'],
    [
      'of a page of the same site, and another origin',
      { 'sec-fetch-site': 'same-site' },
      403,
      'other_origin',
    ],
    ['that a browser does not vouch for', { 'sec-fetch-site': undefined }, 403, 'other_origin'],
    ['that names another origin', { origin: 'https://evil.example' }, 403, 'other_origin'],
    ['that names no origin', { origin: undefined }, 403, 'other_origin'],
    ['that a form can send', { 'content-type': 'text/plain' }, 415, 'content_type'],
    ['without a type', { 'content-type': undefined }, 415, 'content_type'],
    ['with a token besides', { authorization: 'Bearer must_live_x' }, 400, 'two_credentials'],
    ['that names no organization', { 'x-muster-org': undefined }, 400, 'invalid_params'],
    ['that names an organization by what is no id', { 'x-muster-org': 'acme' }, 400, 'invalid_params'],
  ];
  it.each(cases)('%s', async (_what, headers, status, reason) => {
    const answer = await browser.call(people.orgId, 'orgs.update', { name: 'Taken over' }, headers);
    expect([answer.status, answer.body]).toEqual([
      status,
      expect.objectContaining({ details: expect.objectContaining({ reason }) }),
    ]);
    const [org] = await world.rows<{ name: string }>('select name from orgs where id = $1', people.orgId);
    expect(org?.name).not.toBe('Taken over');
  });

  it('to the gateway', async () => {
    expect((await browser.open('/api/mcp')).status).not.toBe(200);
  });
});

it('streams events to a browser by its cookie, and to no page of another origin', async () => {
  const { orgId } = people;
  const stream = (site: string) =>
    fetch(new URL(`/api/events/stream?organization=${orgId}`, installation.url()), {
      headers: { cookie: `muster=${browser.session()}`, 'sec-fetch-site': site },
    });
  const own = await stream('same-origin');
  expect([own.status, own.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('text/event-stream'),
  ]);
  await own.body?.cancel();
  expect((await stream('cross-site')).status).toBe(403);
});

describe('a form counts for nothing', () => {
  const foreign = [
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': undefined, origin: undefined },
  ];
  it.each(foreign)('of another origin: %j', async (headers) => {
    // Login CSRF: a page of another site tries to sign a person in as someone else.
    const attacker = installation.browser();
    await attacker.submit('/auth/link', { email });
    const { token } = await installation.link(email, 2);
    const victim = installation.browser();
    for (const [name, value] of attacker.cookies) victim.cookies.set(name, value);
    expect((await victim.submit('/auth/link/use', { token }, headers)).status).toBe(403);
    expect((await victim.submit('/auth/link', { email }, headers)).status).toBe(403);
    expect((await victim.submit('/auth/code', { code: 'BCDFGHJK' }, headers)).status).toBe(403);
    expect((await browser.submit('/auth/sign-out', {}, headers)).status).toBe(403);
    expect((await browser.call(people.orgId, 'session.identity')).status).toBe(200);
  });
});

it('leads who is signed in to no other site', async () => {
  for (const to of ['https://evil.example/', '//evil.example', '/\\evil.example', '/\t/evil.example', 'x']) {
    const { location } = await browser.open(`/sign-in?to=${encodeURIComponent(to)}`);
    expect(location).toBe('');
  }
  expect((await browser.open('/sign-in?to=%2Fconsole%2F')).location).toBe('/console/');
});

it('shows a person their organizations, and nobody else what they are', async () => {
  const other = await world.org();
  await give(other.orgId, other.dan.me.memberId, email);
  const { body } = await browser.open('/auth/session', { 'sec-fetch-site': 'same-origin' });
  const ids = (body['organizations'] as { id: string; role: string }[]).map(({ id, role }) => [id, role]);
  expect(new Map(ids as [string, string][])).toEqual(
    new Map([
      [people.orgId, 'owner'],
      [other.orgId, 'viewer'],
    ]),
  );
  expect((await browser.open('/sign-in')).text).toContain(email);
  expect((await installation.browser().open('/sign-in')).text).not.toContain(email);
  expect((await browser.open('/auth/session', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
});
