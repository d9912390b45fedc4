/**
 * Attacks against the authorization server. Each guard was removed once to verify that a test here fails
 * without it.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useInstallation } from './installation.ts';
import {
  arrangeConsent,
  callWith,
  type OAuthTestClient,
  clientOf,
  connect,
  consentForm,
  type ConsentFixture,
  consentTo,
  openRequest,
  redirectUri,
  register,
  type OAuthTokens,
} from './oauth.ts';

const installation = useInstallation({ OAUTH_DYNAMIC_REGISTRATION: 'on' });
const { world } = installation;

let people: ConsentFixture['people'];
let browser: ConsentFixture['browser'];
let form: ConsentFixture['form'];
let email: string;
let client: OAuthTestClient;
beforeEach(async () => {
  ({ people, browser, form, email } = await arrangeConsent(installation));
  client = clientOf(installation, await register(installation));
});

const call = async (token: string, operation: string, params: object = {}) =>
  callWith(installation, token, operation, params);
const identify = async (token: string): Promise<number> => (await call(token, 'session.identity')).status;
const connections = () =>
  world.rows<{ id: string }>(
    'select id from connections where org_id = $1 and revoked_at is null',
    people.orgId,
  );

describe('an address to go back to', () => {
  it.each([
    'https://evil.example/callback',
    'http://127.0.0.1:4711/other',
    'http://127.0.0.1.evil.example:4711/callback',
    'http://127.0.0.1:4711@evil.example/callback',
    'http://localhost:4711/callback',
    'http://127.0.0.1:4711/callback/../evil',
    'javascript:alert(1)',
    '//evil.example/callback',
  ])('that the client did not register is led to by nothing: %s', async (uri) => {
    const { status, location, text } = await openRequest(browser, client.authorizeUrl({ redirect_uri: uri }));
    expect([status, location]).toEqual([400, '']);
    expect(text).not.toContain('href="https://evil');
  });

  it('at another port of this computer is the same program', async () => {
    const address = client.authorizeUrl({ redirect_uri: redirectUri.replace('4711', '9999') });
    expect((await openRequest(browser, address)).status).toBe(200);
  });

  it('of another request than the code is of gets no token', async () => {
    const back = await consentTo(browser, client.authorizeUrl(), form);
    const code = back.get('code') ?? '';
    const other = await client.exchange(code, { redirect_uri: redirectUri.replace('4711', '9999') });
    expect([other.status, other.body['error']]).toEqual([400, 'invalid_grant']);
  });
});

describe('PKCE', () => {
  it.each([
    ['none', { code_challenge: undefined, code_challenge_method: undefined }],
    ['plain', { code_challenge: 'a'.repeat(43), code_challenge_method: 'plain' }],
    ['plain by not saying', { code_challenge_method: undefined }],
  ])('cannot be left out: %s', async (_what, over) => {
    const { location } = await openRequest(browser, client.authorizeUrl(over));
    expect(new URL(location).searchParams.get('error')).toBe('invalid_request');
  });

  it('holds the code to the program that began', async () => {
    const back = await consentTo(browser, client.authorizeUrl(), form);
    const code = back.get('code') ?? '';
    const stolen = await client.exchange(code, { code_verifier: 'b'.repeat(43) });
    expect([stolen.status, stolen.body['error']]).toEqual([400, 'invalid_grant']);
    const without = await client.post('/oauth/token', {
      ...{ grant_type: 'authorization_code', client_id: client.id, code, redirect_uri: redirectUri },
    });
    expect([without.status, without.body['error']]).toEqual([400, 'invalid_grant']);
  });
});

describe('a code', () => {
  it('that is used twice takes along what the first use gave', async () => {
    const back = await consentTo(browser, client.authorizeUrl(), form);
    const code = back.get('code') ?? '';
    const { body } = await client.exchange(code);
    const tokens = body as unknown as OAuthTokens;
    expect(await identify(tokens.access_token)).toBe(200);
    const again = await client.exchange(code);
    expect([again.status, again.body['error']]).toEqual([400, 'invalid_grant']);
    expect(await identify(tokens.access_token)).toBe(401);
    expect((await client.refresh(tokens.refresh_token)).body['error']).toBe('invalid_grant');
    expect(await connections()).toEqual([]);
  });

  it('that several use at once is used by one at most', async () => {
    const back = await consentTo(browser, client.authorizeUrl(), form);
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => client.exchange(back.get('code') ?? '')),
    );
    expect(replies.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  });

  it('of one client is of no use to another', async () => {
    const back = await consentTo(browser, client.authorizeUrl(), form);
    const other = clientOf(installation, await register(installation));
    const stolen = await other.exchange(back.get('code') ?? '', { code_verifier: client.verifier });
    expect([stolen.status, stolen.body['error']]).toEqual([400, 'invalid_grant']);
  });
});

describe('a token', () => {
  it.each(['https://elsewhere.example/api/mcp', 'https://127.0.0.1/api/mcp'])(
    'is given for no resource but ours: %s',
    async (resource) => {
      const { location } = await openRequest(browser, client.authorizeUrl({ resource }));
      expect(new URL(location).searchParams.get('error')).toBe('invalid_target');
      const tokens = await connect(browser, client, form);
      expect((await client.refresh(tokens.refresh_token, { resource })).body['error']).toBe('invalid_target');
    },
  );

  it('is given for no other resource than was consented to', async () => {
    const back = await consentTo(browser, client.authorizeUrl(), form);
    const other = await client.exchange(back.get('code') ?? '', { resource: `${installation.url()}/api` });
    expect(other.body['error']).toBe('invalid_target');
  });

  it('has no scope beyond what was consented to, however it is asked for', async () => {
    const tokens = await connect(browser, client, { ...form, scope: 'read' });
    const more = await client.refresh(tokens.refresh_token, { scope: 'read write admin' });
    expect([more.status, more.body['error']]).toEqual([400, 'invalid_scope']);
  });
});

describe('a refresh token', () => {
  const usedAgo = (seconds: number) =>
    world.rows(
      `update sign_in.oauth_records set consumed_at = consumed_at - make_interval(secs => $1) where model = 'RefreshToken'`,
      seconds,
    );

  it('answers again for a minute: the client may have lost the answer', async () => {
    const tokens = await connect(browser, client, form);
    expect((await client.refresh(tokens.refresh_token)).status).toBe(200);
    await usedAgo(50);
    const again = await client.refresh(tokens.refresh_token);
    expect(again.status).toBe(200);
    expect(await identify(String(again.body['access_token']))).toBe(200);
  });

  it('used again later was stolen, and ends the connection', async () => {
    const tokens = await connect(browser, client, form);
    const { body } = await client.refresh(tokens.refresh_token);
    await usedAgo(61);
    expect((await client.refresh(tokens.refresh_token)).body['error']).toBe('invalid_grant');
    expect(await identify(tokens.access_token)).toBe(401);
    expect(await identify(String(body['access_token']))).toBe(401);
    expect((await client.refresh(String(body['refresh_token']))).body['error']).toBe('invalid_grant');
  });

  it('of one client is of no use to another', async () => {
    const tokens = await connect(browser, client, form);
    const other = clientOf(installation, await register(installation));
    expect((await other.refresh(tokens.refresh_token)).body['error']).toBe('invalid_grant');
    expect((await client.refresh(tokens.refresh_token)).status).toBe(200);
  });

  it('lasts no longer than was consented to', async () => {
    const tokens = await connect(browser, client, { ...form, days: '1' });
    await world.rows(
      `update connections set created_at = created_at - interval '2 days', expires_at = expires_at - interval '2 days' where org_id = $1`,
      people.orgId,
    );
    expect((await client.refresh(tokens.refresh_token)).body['error']).toBe('invalid_grant');
  });

  it('lies in the database as a hash', async () => {
    const tokens = await connect(browser, client, form);
    const rows = await world.rows<{ text: string }>('select r::text as text from sign_in.oauth_records r');
    for (const { text } of rows) expect(text).not.toContain(tokens.refresh_token);
  });
});

describe('a connection', () => {
  it('ends when its client says so', async () => {
    const tokens = await connect(browser, client, form);
    const other = clientOf(installation, await register(installation));
    await other.post('/oauth/revoke', { client_id: other.id, token: tokens.refresh_token });
    expect(await identify(tokens.access_token)).toBe(200);
    const { status } = await client.post('/oauth/revoke', {
      client_id: client.id,
      token: tokens.refresh_token,
    });
    expect([status, await identify(tokens.access_token)]).toEqual([200, 401]);
    expect(await connections()).toEqual([]);
  });

  it('ends with its agent, and with the membership of its person', async () => {
    const [first, second] = [
      await connect(browser, client, form),
      await connect(browser, client, { ...form, agentName: 'B' }),
    ];
    const [agent] = await world.rows<{ id: string }>(
      `select id from agents where org_id = $1 and name = 'B'`,
      people.orgId,
    );
    expect((await call(people.chloe.me.token, 'agents.retire', { agentId: agent?.id })).status).toBe(200);
    expect([await identify(first.access_token), await identify(second.access_token)]).toEqual([200, 401]);
    expect((await client.refresh(second.refresh_token)).body['error']).toBe('invalid_grant');
    const { memberId } = people.chloe.me;
    expect((await call(people.ana.me.token, 'members.removeMember', { memberId })).status).toBe(200);
    expect(await identify(first.access_token)).toBe(401);
    expect((await client.refresh(first.refresh_token)).body['error']).toBe('invalid_grant');
  });
});

describe('consent', () => {
  it.each([
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': undefined, origin: undefined },
  ])('is not given by a page of another origin: %j', async (headers) => {
    const { at } = await openRequest(browser, client.authorizeUrl());
    expect((await browser.submit(at, form, headers)).status).toBe(403);
    expect(await connections()).toEqual([]);
  });

  it('is shown in no frame', async () => {
    const { headers } = await openRequest(browser, client.authorizeUrl());
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  });

  it('is given in the browser that began, by no other', async () => {
    const { at } = await openRequest(browser, client.authorizeUrl());
    const attacker = await installation.signIn(email);
    expect((await attacker.open(at)).status).toBe(410);
    expect((await attacker.submit(at, form)).status).toBe(410);
    // The browser cannot use a request that the attacker's browser started, either.
    const begun = await openRequest(attacker, client.authorizeUrl());
    expect((await browser.submit(begun.at, form)).status).toBe(410);
    expect(await connections()).toEqual([]);
  });

  it('is given once for each request', async () => {
    const address = client.authorizeUrl();
    const { at } = await openRequest(browser, address);
    const answered = await browser.submit(at, form);
    await browser.open(String(answered.headers['refresh']).replace('0;url=', ''));
    expect((await browser.submit(at, form)).status).toBe(410);
  });

  it('needs a person who proved lately who they are', async () => {
    const { at } = await openRequest(browser, client.authorizeUrl());
    await world.rows(`update sign_in.sessions set proven_at = now() - interval '11 minutes'`);
    for (const answer of [await browser.open(at), await browser.submit(at, form)])
      expect([answer.status, answer.location]).toEqual([303, expect.stringMatching(/^\/sign-in\?again&to=/)]);
    expect(await connections()).toEqual([]);
  });

  it('gives the scope admin to admins alone', async () => {
    const address = client.authorizeUrl({ scope: 'admin' });
    const { at, text } = await openRequest(browser, address);
    expect(text).not.toContain('value="admin"');
    expect((await browser.submit(at, { ...form, scope: 'admin' })).status).toBe(422);
    const bens = email.replace('chloe', 'ben');
    await world.rows('update members set email = $2 where id = $1', people.ben.me.memberId, bens);
    const ofBen = await installation.signIn(bens);
    const back = await consentTo(ofBen, address, { ...form, scope: 'admin' });
    expect((await client.exchange(back.get('code') ?? '')).body['scope']).toBe('read write admin');
  });

  it('preselects few projects, at most write, and 30 days', async () => {
    const role = `update members set role = 'admin' where id = $1`;
    await world.rows(role, people.chloe.me.memberId);
    const make = async (key: string): Promise<string> => {
      const { body } = await call(people.ana.me.token, 'projects.create', { key, name: key });
      return (body['project'] as { id: string }).id;
    };
    const address = client.authorizeUrl({ scope: 'admin' });
    const empty = await openRequest(browser, address);
    expect(empty.text).toMatch(/name="in" value="all"\s+checked/);
    const first = await make('ONE');
    const few = await openRequest(browser, address);
    for (const chosen of ['name="in" value="some"', `name="project-${first}" value="on"`, 'value="write"'])
      expect(few.text).toMatch(new RegExp(`${chosen}\\s+checked`));
    expect(few.text).toMatch(/value="30"\s+selected/);
    for (const key of ['TWO', 'THREE', 'FOUR', 'FIVE', 'SIX']) await make(key);
    const many = await openRequest(browser, address);
    expect(many.text).not.toMatch(/name="(in|project-[^"]+)" value="\w+"\s+checked/);
    const { in: _in, ...undecided } = form;
    const refused = await browser.submit(many.at, undecided);
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('Choose the projects')]);
  });

  it('gives no scope that was not asked for', async () => {
    const { at } = await openRequest(browser, client.authorizeUrl({ scope: 'read' }));
    expect((await browser.submit(at, { ...form, scope: 'write' })).status).toBe(422);
    expect(await connections()).toEqual([]);
  });

  it("gives no other person's agent, no foreign organization, and no project that is not seen", async () => {
    const other = await world.org();
    const made = await call(people.ben.me.token, 'agents.create', { name: 'Bens' });
    const agent = made.body['agent'] as { id: string };
    const { at } = await openRequest(browser, client.authorizeUrl());
    expect((await browser.submit(at, { ...form, agent: agent.id })).status).toBe(422);
    // The form must not apply to the person's remaining organization, because they were shown a different
    // one.
    const foreign = await browser.submit(at, { ...consentForm, org: other.orgId });
    expect(foreign.text).toContain('Choose an organization');
    const unseen = { ...form, agentName: 'C', in: 'some', [`project-${other.orgId}`]: 'on' };
    expect((await browser.submit(at, unseen)).status).toBe(422);
    expect(await connections()).toEqual([]);
  });

  it('writes out what a client says of itself', async () => {
    const id = await register(installation, { client_name: '<script>alert(1)</script>"\'' });
    const { text } = await openRequest(browser, clientOf(installation, id).authorizeUrl());
    expect(text).toContain('&#60;script&#62;');
    expect(text).not.toContain('<script>');
  });
});

describe('a client', () => {
  it('that is not known hears so, and may begin anew', async () => {
    const unknown = clientOf(installation, 'no-such-client');
    const { status, body } = await unknown.refresh('x'.repeat(43));
    expect([status, body['error']]).toEqual([401, 'invalid_client']);
    expect((await openRequest(browser, unknown.authorizeUrl())).status).toBe(400);
  });

  it('that registered itself is kept as long as a connection of its, and a while after that', async () => {
    const days = async (): Promise<number> => {
      const [row] = await world.rows<{ days: number }>(
        `select round(extract(epoch from max(expires_at) - now()) / 86400)::int as days from sign_in.oauth_records where model = 'Client'`,
      );
      return row?.days ?? 0;
    };
    await world.rows(`delete from sign_in.oauth_records where model = 'Client'`);
    client = clientOf(installation, await register(installation));
    expect(await days()).toBe(1);
    await connect(browser, client, form);
    expect(await days()).toBe(120);
  });

  it.each([
    { redirect_uris: ['http://evil.example/callback'] },
    { redirect_uris: ['javascript:alert(1)'] },
    { redirect_uris: [] },
    { grant_types: ['client_credentials'] },
    { response_types: ['token'] },
    { client_name: 7 },
  ])('does not register with %j', async (metadata) => {
    await expect(register(installation, metadata)).rejects.toThrow(/invalid_(client_metadata|redirect_uri)/);
  });
});
