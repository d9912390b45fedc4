/** Clients that know only the URL: the SDK's client, clients with a metadata document, and devices. */
import { once } from 'node:events';
import { createServer } from 'node:https';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Client as McpClient,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { gatewayKeyHeader } from '@muster/http';
import { parseNetworks } from '@muster/outbound';
import { request } from 'undici';
import { certificate, key } from './certificate.ts';
import { useInstallation } from './installation.ts';
import {
  arrangeConsent,
  callWith,
  clientOf,
  connect,
  type ConsentFixture,
  consentTo,
  openRequest,
  redirectUri,
  register,
} from './oauth.ts';

/**
 * The server of client metadata documents: the document that it returns, and the URL to which it redirects
 * instead unless the URL is empty.
 */
let [document, leadsTo]: [unknown, string] = [{}, ''];
const requestedUrls: string[] = [];
const server = createServer({ cert: certificate, key }, ({ url = '' }, response) => {
  requestedUrls.push(url);
  if (leadsTo !== '') response.writeHead(302, { location: leadsTo }).end();
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
});
/**
 * IP address of each name. The server listens on all loopback addresses, and only the first may be called.
 */
const addresses: Readonly<Record<string, string>> = {
  'clients.example': '127.0.0.1',
  'private.example': '127.0.0.2',
  'metadata.example': '169.254.169.254',
};
const installation = useInstallation(
  { OAUTH_DYNAMIC_REGISTRATION: 'on' },
  {
    hasGateway: true,
    senderOptions: {
      ...{ networks: parseNetworks('127.0.0.1/32:*'), timeoutSeconds: 3, ca: certificate },
      resolve: async (host) => [{ address: addresses[host] ?? '127.0.0.1', family: 4 }],
    },
  },
);
const { world } = installation;

let count = 0;
let browser: ConsentFixture['browser'];
let form: ConsentFixture['form'];
let people: ConsentFixture['people'];
let email: string;
beforeAll(async () => {
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
});
afterAll(() => {
  server.close();
});
beforeEach(async () => {
  [document, leadsTo] = [{}, ''];
  requestedUrls.length = 0;
  count += 1;
  ({ browser, form, people, email } = await arrangeConsent(installation));
});
const addressOf = (host: string, path = `/client-${count}.json`): string =>
  `https://${host}:${(server.address() as AddressInfo).port}${path}`;

it('the client of the SDK connects from the bare address, and goes on after its token has ended', async () => {
  const kept: { tokens?: unknown; client?: unknown; state?: unknown; verifier?: string; at?: URL } = {};
  const authProvider: OAuthClientProvider = {
    redirectUrl: redirectUri,
    clientMetadata: { client_name: 'SDK', redirect_uris: [redirectUri] },
    clientInformation: () => kept.client as never,
    saveClientInformation: (client) => void (kept.client = client),
    tokens: () => kept.tokens as never,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: (url) => void (kept.at = url),
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier ?? '',
    discoveryState: () => kept.state as never,
    saveDiscoveryState: (state) => void (kept.state = state),
  };
  const transport = () =>
    new StreamableHTTPClientTransport(new URL('/api/mcp?mode=core', installation.url()), { authProvider });
  const client = () => new McpClient({ name: 'spec', version: '1' });
  const first = transport();
  await expect(client().connect(first)).rejects.toThrow(UnauthorizedError);
  const at = kept.at ?? new URL('http://nowhere');
  expect([at.origin, at.pathname]).toEqual([installation.url(), '/oauth/authorize']);
  const back = await consentTo(browser, `${at.pathname}${at.search}`, form);
  await first.finishAuth(back);
  const connected = client();
  await connected.connect(transport());
  const { tools } = await connected.listTools();
  expect(tools.length).toBeGreaterThan(10);
  await world.rows(`update tokens set expires_at = now() - interval '1 minute' where kind = 'oauth'`);
  expect((await connected.callTool({ name: 'session_identity', arguments: {} })).isError).not.toBe(true);
  await connected.close();
});

describe('a token', () => {
  const connectFor = async (resource: string): Promise<string> => {
    const client = clientOf(installation, await register(installation));
    const address = client.authorizeUrl({ resource: `${installation.url()}${resource}` });
    const { body } = await client.exchange((await consentTo(browser, address, form)).get('code') ?? '');
    return String(body['access_token']);
  };
  const listTools = (token: string) =>
    fetch(new URL('/api/mcp', installation.url()), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'projects_list', arguments: {} },
      }),
    });
  const sendToA2a = (token: string, base = installation.url()) =>
    fetch(new URL('/api/a2a', base), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks' }),
    });
  const readStream = (token: string) =>
    fetch(new URL('/api/events/stream', installation.url()), {
      headers: { authorization: `Bearer ${token}` },
    });

  it('that was granted for the tools is accepted through the gateway alone', async () => {
    const token = await connectFor('/api/mcp?mode=core');
    const throughTools = await listTools(token);
    expect([throughTools.status, await throughTools.json()]).toEqual([
      200,
      expect.objectContaining({ result: expect.not.objectContaining({ isError: true }) }),
    ]);
    for (const headers of [{}, { [gatewayKeyHeader]: 'x'.repeat(32) }, { [gatewayKeyHeader]: '' }]) {
      const refused = await callWith(installation, token, 'projects.list', {}, headers);
      expect([refused.status, refused.body['details'], refused.headers['www-authenticate']]).toEqual([
        401,
        expect.objectContaining({ reason: 'other_resource' }),
        'Bearer',
      ]);
    }
    expect((await readStream(token)).status).toBe(401);
    expect((await sendToA2a(token)).status).toBe(401);
    // The gateway knows the token from the call of a tool.
    expect((await sendToA2a(token, installation.gatewayUrl())).status).toBe(401);
    expect((await callWith(installation, token, 'projects.list')).status).toBe(200);
  });

  it('that was granted for the API, and one that a member made, is accepted everywhere', async () => {
    for (const token of [await connectFor('/api'), people.ana.me.token]) {
      expect((await listTools(token)).status).toBe(200);
      expect((await sendToA2a(token)).status).toBe(200);
      expect((await callWith(installation, token, 'projects.list', {}, {})).status).toBe(200);
      const stream = await readStream(token);
      expect(stream.status).toBe(200);
      await stream.body?.cancel();
    }
  });
});

it('a call without a token, and one with a token that is over, say who gives one', async () => {
  for (const headers of [{}, { authorization: `Bearer must_live_${'x'.repeat(38)}` }] as Record<
    string,
    string
  >[]) {
    const answer = await fetch(new URL('/api/mcp', installation.url()), { method: 'POST', headers });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining(
        `resource_metadata="${installation.url()}/.well-known/oauth-protected-resource/api/mcp", scope="read write"`,
      ),
    ]);
  }
});

it('a client that sends what no text is hears that its request is at fault', async () => {
  await expect(register(installation, { client_name: 'Half \ud83d' })).rejects.toThrow('invalid_request');
  const client = clientOf(installation, await register(installation));
  const { location } = await openRequest(browser, client.authorizeUrl({ state: 'a\0b' }));
  expect(new URL(location).searchParams.get('error')).toBe('invalid_request');
});

describe('a client that registers itself', () => {
  it.each([
    { scope: 'write' },
    { scope: 'read' },
    { scope: 'openid email profile mcp:tools platform' },
    { scope: '', client_uri: '', logo_uri: '', policy_uri: '', tos_uri: null, contacts: null },
    { token_endpoint_auth_method: 'client_secret_post', application_type: 'web' },
    { token_endpoint_auth_method: 'client_secret_basic', grant_types: ['authorization_code', 'implicit'] },
    {
      client_uri: 'no address',
      jwks_uri: 7,
      software_id: {},
      anything: [null],
      id_token_signed_response_alg: 'x',
    },
  ])('connects after registering %j, and is told what was registered', async (metadata) => {
    const answer = await request(new URL('/oauth/register', installation.url()), {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ client_name: 'Odd', redirect_uris: [redirectUri], ...metadata }),
    });
    const body = (await answer.body.json()) as Record<string, unknown>;
    expect([answer.statusCode, body]).toMatchObject([
      201,
      {
        ...{ client_name: 'Odd', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' },
        grant_types: expect.arrayContaining(['authorization_code']),
      },
    ]);
    expect(Object.keys(body).filter((name) => /secret|scope|uri$|contacts|anything/.test(name))).toEqual([]);
    const client = clientOf(installation, String(body['client_id']));
    const asked = metadata.scope === undefined ? {} : { scope: `${metadata.scope} offline_access`.trim() };
    const back = await consentTo(browser, client.authorizeUrl(asked), {
      ...form,
      ...(metadata.scope === 'read' && { scope: 'read' }),
    });
    expect((await client.exchange(back.get('code') ?? '')).status).toBe(200);
  });
});

describe('a client with a document of its own', () => {
  const documentOf = (id: string, over: object = {}): object => ({
    ...{ client_id: id, client_name: 'Code Helper', redirect_uris: [redirectUri] },
    ...{ grant_types: ['authorization_code', 'refresh_token'], token_endpoint_auth_method: 'none', ...over },
  });

  it('connects, and is shown by the host that vouches for it', async () => {
    const id = addressOf('clients.example');
    document = documentOf(id, {
      scope: 'openid something',
      logo_uri: 'https://clients.example/l.png',
      grant_types: ['authorization_code', 'refresh_token', 'urn:example:other'],
    });
    const client = clientOf(installation, id);
    const { text } = await openRequest(browser, client.authorizeUrl());
    expect(text).toContain(`<strong>Code Helper</strong> from <strong>${new URL(id).host}</strong>`);
    const tokens = await connect(browser, client, form);
    expect((await client.refresh(tokens.refresh_token)).status).toBe(200);
    const { body } = await browser.call(form['org'] ?? '', 'connections.list');
    expect(body['items']).toMatchObject([{ client: { name: 'Code Helper', host: new URL(id).host } }]);
    // The document was fetched only once.
    expect(requestedUrls).toHaveLength(1);
  });

  it.each([
    ['is of another address', { client_id: 'https://clients.example/else.json' }],
    ['has a secret', { token_endpoint_auth_method: 'client_secret_post' }],
    ['has no name', { client_name: undefined }],
    ['has a name with NUL', { client_name: 'Code\0Helper' }],
    ['has nowhere to go back to', { redirect_uris: [] }],
    ['goes back to an address without TLS', { redirect_uris: ['http://clients.example/callback'] }],
    ['is too long', { padding: 'x'.repeat(6_000) }],
  ])('is refused where the document %s', async (_what, over) => {
    const id = addressOf('clients.example');
    document = documentOf(id, over);
    const { status, location } = await openRequest(browser, clientOf(installation, id).authorizeUrl());
    expect([status, location]).toEqual([400, '']);
  });

  it.each([
    'private.example',
    '127.0.0.2',
    'metadata.example',
    '10.0.0.7',
    '169.254.169.254',
    '[::ffff:10.0.0.7]',
    '[fd00::1]',
  ])('is not asked for at an address outside the public internet: %s', async (host) => {
    const id = addressOf(host);
    document = documentOf(id);
    const { status, location } = await openRequest(browser, clientOf(installation, id).authorizeUrl());
    expect([status, location, requestedUrls]).toEqual([400, '', []]);
  });

  it('is not looked for where its address leads on', async () => {
    const id = addressOf('clients.example');
    document = documentOf(id);
    leadsTo = addressOf('clients.example', '/elsewhere.json');
    expect((await openRequest(browser, clientOf(installation, id).authorizeUrl())).status).toBe(400);
    expect(new Set(requestedUrls)).toEqual(new Set([new URL(id).pathname]));
  });
});

describe('a device', () => {
  const cli = () => clientOf(installation, 'muster-cli');
  const begin = async (scope = 'read write') => {
    const { body } = await cli().post(
      '/oauth/device/authorize',
      { client_id: 'muster-cli', scope },
      { 'user-agent': 'Never <b>' },
    );
    return body as { device_code: string; user_code: string; verification_uri: string };
  };
  const poll = (code: string) =>
    cli().post('/oauth/token', {
      ...{ grant_type: 'urn:ietf:params:oauth:grant-type:device_code', client_id: 'muster-cli' },
      device_code: code,
    });

  it('waits until its code is typed in by a person, who says what it may do', async () => {
    const { device_code: code, user_code: shown, verification_uri: at } = await begin();
    expect([shown, at]).toEqual([
      expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
      `${installation.url()}/oauth/device`,
    ]);
    expect((await poll(code)).body['error']).toBe('authorization_pending');
    expect((await browser.open('/oauth/device')).text).toContain('Enter the code');
    const page = await browser.submit('/oauth/device', { user_code: shown.toLowerCase() });
    for (const fact of [
      'Muster on the command line',
      shown,
      '127.0.0.1',
      'Never &#60;b&#62;',
      'If someone sent you',
    ])
      expect(page.text).toContain(fact);
    const done = await browser.submit('/oauth/device', { ...form, user_code: shown, scope: 'read' });
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('is connected')]);
    const { status, body } = await poll(code);
    expect([status, body['scope']]).toEqual([200, 'read']);
    const { body: identity } = await callWith(installation, String(body['access_token']), 'session.identity');
    expect(identity).toMatchObject({ agent: { name: 'Claude' }, token: { scopes: ['read'] } });
    // A code works only once.
    expect((await poll(code)).body['error']).toBe('invalid_grant');
    expect((await browser.submit('/oauth/device', { ...form, user_code: shown })).status).toBe(422);
  });

  it('hears of a no', async () => {
    const { device_code: code, user_code: shown } = await begin();
    expect((await browser.submit('/oauth/device', { user_code: shown, answer: 'refuse' })).text).toContain(
      'Not connected',
    );
    expect((await poll(code)).body['error']).toBe('access_denied');
  });

  it('has its code for ten minutes', async () => {
    const { device_code: code, user_code: shown } = await begin();
    await world.rows(
      `update sign_in.oauth_records set expires_at = now() - interval '1 second', payload = payload || '{"exp": 1}'::jsonb where model = 'DeviceCode'`,
    );
    expect((await browser.submit('/oauth/device', { user_code: shown })).status).toBe(422);
    expect((await poll(code)).body['error']).toBe('expired_token');
  });

  it('has its code typed by the person, even if the link carries it', async () => {
    const { user_code: shown } = await begin();
    const { status, text } = await browser.open(`/oauth/device?user_code=${shown}&org=${people.orgId}`);
    expect([status, text]).toEqual([200, expect.stringContaining('Enter the code')]);
    expect(text).not.toContain(shown);
    expect(text).not.toContain('value="connect"');
  });

  it('is offered read first, and never admin, to an admin either', async () => {
    await world.rows(`update members set role = 'admin' where id = $1`, people.chloe.me.memberId);
    const { device_code: code, user_code: shown } = await begin('read write admin');
    const { text } = await browser.submit('/oauth/device', { user_code: shown });
    expect(text).toMatch(/name="scope" value="read"\s+checked/);
    expect(text).not.toContain('value="admin"');
    const widened = await browser.submit('/oauth/device', { ...form, user_code: shown, scope: 'admin' });
    expect(widened.status).toBe(422);
    expect((await poll(code)).body['error']).toBe('authorization_pending');
  });

  it('is connected to the organization that a person of several chooses', async () => {
    const other = await world.org();
    await world.rows('update members set email = $2 where id = $1', other.ben.me.memberId, email);
    const { device_code: code, user_code: shown } = await begin();
    const choice = await browser.submit('/oauth/device', { user_code: shown });
    expect(choice.text).toContain(`name="org" value="${other.orgId}"`);
    const page = await browser.submit('/oauth/device', { user_code: shown, org: other.orgId });
    expect(page.text).toContain('Choose another organization');
    const chosen = { ...form, user_code: shown, org: other.orgId };
    expect((await browser.submit('/oauth/device', chosen)).status).toBe(200);
    expect((await poll(code)).status).toBe(200);
  });

  it.each([
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': undefined, origin: undefined },
  ])('is let in by no page of another origin: %j', async (headers) => {
    const { device_code: code, user_code: shown } = await begin();
    expect((await browser.submit('/oauth/device', { ...form, user_code: shown }, headers)).status).toBe(403);
    expect((await poll(code)).body['error']).toBe('authorization_pending');
  });

  it('is asked about only of who signed in', async () => {
    const { user_code: shown } = await begin();
    const { status, location } = await installation.browser().open(`/oauth/device?user_code=${shown}`);
    expect([status, location]).toEqual([
      303,
      `/sign-in?to=${encodeURIComponent(`/oauth/device?user_code=${shown}`)}`,
    ]);
  });
});
