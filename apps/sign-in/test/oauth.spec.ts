/** Connecting a client by OAuth, from the first 401 to an API call. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { request } from 'undici';
import { useInstallation } from './installation.ts';
import {
  arrangeConsent,
  callWith,
  type OAuthTestClient,
  clientOf,
  connect,
  type ConsentFixture,
  consentTo,
  openRequest,
  register,
} from './oauth.ts';

const installation = useInstallation({ OAUTH_DYNAMIC_REGISTRATION: 'on' });
const { world } = installation;

let people: ConsentFixture['people'];
let browser: ConsentFixture['browser'];
let form: ConsentFixture['form'];
let client: OAuthTestClient;
beforeEach(async () => {
  ({ people, browser, form } = await arrangeConsent(installation));
  client = clientOf(installation, await register(installation));
});

const call = (token: string, operation: string, params: object = {}) =>
  callWith(installation, token, operation, params);

describe('what clients read first', () => {
  const read = async (path: string) => {
    const answer = await request(new URL(path, installation.url()));
    return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> };
  };

  it.each(['', '/api/mcp', '/api'])('says who gives tokens for a resource: %s', async (path) => {
    const { status, body } = await read(`/.well-known/oauth-protected-resource${path}`);
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        resource: `${installation.url()}${path === '' ? '/api/mcp' : path}`,
        authorization_servers: [installation.url()],
        scopes_supported: ['read', 'write'],
      }),
    ]);
  });

  it('says what the server does, and takes S256 alone', async () => {
    const { body } = await read('/.well-known/oauth-authorization-server');
    const at = installation.url();
    expect(body).toMatchObject({
      issuer: at,
      authorization_endpoint: `${at}/oauth/authorize`,
      token_endpoint: `${at}/oauth/token`,
      revocation_endpoint: `${at}/oauth/revoke`,
      registration_endpoint: `${at}/oauth/register`,
      device_authorization_endpoint: `${at}/oauth/device/authorize`,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      response_types_supported: ['code'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    });
  });
});

describe('a client that a person consents to', () => {
  it('gets a token of our shape, which acts as an agent of the person, as far as was consented to', async () => {
    const tokens = await connect(browser, client, form);
    expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'read write' });
    expect(tokens.access_token).toMatch(/^must_live_[0-9A-Za-z]{38}$/);
    const { status, body } = await call(tokens.access_token, 'session.identity');
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        agent: expect.objectContaining({ name: 'Claude' }),
        member: expect.objectContaining({ id: people.chloe.me.memberId }),
        token: expect.objectContaining({ scopes: ['read', 'write'], projectIds: null, mayReadInbox: false }),
      }),
    ]);
    // The token acts as an agent, so operations reserved for people are refused.
    expect((await call(tokens.access_token, 'tokens.create', { name: 'x', scopes: ['read'] })).status).toBe(
      403,
    );
    const [kept] = await world.rows<{ text: string }>(
      `select string_agg(t::text, ' ') as text from tokens t where org_id = $1 and kind = 'oauth'`,
      people.orgId,
    );
    expect(kept?.text).not.toContain(tokens.access_token);
  });

  it('gets less than it asked for, where the person grants less', async () => {
    const tokens = await connect(browser, client, { ...form, scope: 'read', days: '1' });
    expect(tokens.scope).toBe('read');
    const { body } = await call(tokens.access_token, 'session.identity');
    expect(body).toMatchObject({ token: { scopes: ['read'] } });
    const [row] = await world.rows<{ days: number }>(
      `select round(extract(epoch from expires_at - now()) / 86400)::int as days from connections where org_id = $1`,
      people.orgId,
    );
    expect(row).toEqual({ days: 1 });
  });

  it('hears who answered, and its own state', async () => {
    const back = await consentTo(browser, client.authorizeUrl(), form);
    expect([back.get('iss'), back.get('state')]).toEqual([installation.url(), 'xyz']);
    const refused = await consentTo(browser, client.authorizeUrl(), { answer: 'refuse' });
    expect([refused.get('error'), refused.get('iss')]).toEqual(['access_denied', installation.url()]);
    expect(await world.rows('select id from connections where org_id = $1', people.orgId)).toHaveLength(1);
  });

  it('may name a resource with a query of its own, as it is', async () => {
    const resource = `${installation.url()}/api/mcp?mode=core`;
    const address = `${client.authorizeUrl({ resource: undefined, state: undefined })}&resource=${resource}&state=abc`;
    const back = await consentTo(browser, address, form);
    expect(back.get('state')).toBe('abc');
    expect((await client.exchange(back.get('code') ?? '', { resource })).status).toBe(200);
  });

  it('stands in the audit of the organization: who let it in, from where, and as what', async () => {
    await connect(browser, client, form);
    const listed = await browser.call(people.orgId, 'connections.list');
    const [connection] = listed.body['items'] as {
      id: string;
      agent: { id: string; name: string };
      client: object;
      projectIds: string[];
      scopes: string[];
      expiresAt: string;
    }[];
    const { body } = await call(people.ana.me.token, 'audit.list', { operation: 'connections.consent' });
    expect(body['items']).toEqual([
      expect.objectContaining({
        ...{ operation: 'connections.consent', target: connection?.id, outcome: 'allowed' },
        actor: expect.objectContaining({ kind: 'member', memberId: people.chloe.me.memberId, agentId: null }),
        ...{ ip: '127.0.0.1', userAgent: 'Spec 1.0', requestId: expect.any(String) },
        // The entry contains names, because the connection may be purged and the agent renamed.
        details: {
          client: connection?.client,
          agent: { id: connection?.agent.id, name: connection?.agent.name },
          projectIds: connection?.projectIds,
          scopes: connection?.scopes,
          expiresAt: connection?.expiresAt,
        },
      }),
    ]);
    const all = await call(people.ana.me.token, 'audit.list', {});
    const operations = (all.body['items'] as { operation: string }[]).map(({ operation }) => operation);
    expect(operations).toEqual(['connections.consent', 'agents.create']);
  });

  it('that the person refuses leaves no entry in the audit', async () => {
    await consentTo(browser, client.authorizeUrl(), { answer: 'refuse' });
    const { body } = await call(people.ana.me.token, 'audit.list', {});
    expect(body['items']).toEqual([]);
  });

  it('goes on with a refresh token, and its calls come from the same token', async () => {
    const first = await connect(browser, client, form);
    const { status, body } = await client.refresh(first.refresh_token);
    expect([status, body]).toEqual([200, expect.objectContaining({ scope: 'read write' })]);
    for (const token of [first.access_token, String(body['access_token'])])
      expect((await call(token, 'session.identity')).status).toBe(200);
  });

  it('is asked about each time, and where the person has to sign in first, after that', async () => {
    await connect(browser, client, form);
    expect((await openRequest(browser, client.authorizeUrl())).text).toContain('Spec Agent');
    const stranger = installation.browser();
    const { status, location } = await openRequest(stranger, client.authorizeUrl());
    expect([status, location]).toEqual([303, expect.stringMatching(/^\/sign-in\?to=%2Foauth%2Fconsent%2F/)]);
  });

  it('is in the list of the person, and is refused from the next call on once it is ended', async () => {
    const tokens = await connect(browser, client, form);
    const { body } = await browser.call(people.orgId, 'connections.list');
    expect(body['items']).toEqual([
      expect.objectContaining({
        client: { name: 'Spec Agent', host: null },
        agent: { id: expect.any(String), name: 'Claude' },
        scopes: ['read', 'write'],
      }),
    ]);
    const [{ id: connectionId } = { id: '' }] = body['items'] as { id: string }[];
    expect((await call(tokens.access_token, 'session.identity')).status).toBe(200);
    expect((await browser.call(people.orgId, 'connections.revoke', { connectionId })).status).toBe(200);
    expect((await call(tokens.access_token, 'session.identity')).status).toBe(401);
    // A request for an ended connection neither consumes nor creates records.
    const records = () =>
      world.rows(
        'select model, consumed_at from sign_in.oauth_records where grant_id = $1 order by 1',
        connectionId,
      );
    const before = await records();
    expect((await client.refresh(tokens.refresh_token)).body['error']).toBe('invalid_grant');
    expect(await records()).toEqual(before);
  });

  it('lives on through a thousand refreshes that come many at a time', async () => {
    let { refresh_token: token } = await connect(browser, client, form);
    // The requests of all rounds exceed the limit of concurrent requests, so each request must release its
    // slot. The test takes seven seconds, and much longer on a busy machine.
    for (let round = 0; round < 200; round += 1) {
      const replies = await Promise.all(Array.from({ length: 5 }, () => client.refresh(token)));
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
      token = String(replies.at(-1)?.body['refresh_token']);
    }
    expect((await client.refresh(token)).status).toBe(200);
  }, 300_000);

  it('calls by the same token where the one before has ended', async () => {
    const tokens = await connect(browser, client, form);
    await world.rows(`update tokens set expires_at = now() - interval '1 minute' where kind = 'oauth'`);
    expect((await call(tokens.access_token, 'session.identity')).status).toBe(401);
    const { body } = await client.refresh(tokens.refresh_token);
    expect((await call(String(body['access_token']), 'session.identity')).status).toBe(200);
    const rows = await world.rows(`select id from tokens where org_id = $1 and kind = 'oauth'`, people.orgId);
    expect(rows).toHaveLength(1);
  });
});

it('leads to the proof that the organization asks for before it consents, and back', async () => {
  expect((await browser.call(people.orgId, 'session.identity')).status).toBe(200);
  const policy = await callWith(installation, people.ana.me.token, 'policy.update', { requirePasskey: true });
  expect(policy.status).toBe(200);
  const { at, location } = await openRequest(browser, client.authorizeUrl());
  expect(location).toBe(`/sign-in?organization=${people.orgId}&to=${encodeURIComponent(at)}`);
  expect((await browser.open(location)).text).toContain('passkey');
});
