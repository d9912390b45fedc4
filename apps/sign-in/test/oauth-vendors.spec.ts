/**
 * Clients that cannot run here, simulated by their requests: VS Code (its sources, extHostMcp.ts and
 * oauth.ts), Cursor (its registrations, as servers report them) and Claude Code (its client id metadata
 * document).
 */
import { once } from 'node:events';
import { createServer } from 'node:https';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { parseNetworks } from '@muster/outbound';
import { request } from 'undici';
import { certificate, key } from './certificate.ts';
import { useInstallation } from './installation.ts';
import {
  arrangeConsent,
  callWith,
  type OAuthTestClient,
  clientOf,
  consentedAddress,
  type ConsentFixture,
  openRequest,
  register,
} from './oauth.ts';

/** The client metadata documents that the test server serves, by path. */
const documents = new Map<string, object>();
const server = createServer({ cert: certificate, key }, ({ url = '' }, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(documents.get(url)));
});
const installation = useInstallation(
  { OAUTH_DYNAMIC_REGISTRATION: 'on' },
  {
    hasGateway: true,
    senderOptions: {
      ...{ networks: parseNetworks('127.0.0.1/32:*'), timeoutSeconds: 3, ca: certificate },
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    },
  },
);

let browser: ConsentFixture['browser'];
let form: ConsentFixture['form'];
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.close();
});
beforeEach(async () => {
  ({ browser, form } = await arrangeConsent(installation));
});

/** Publishes a client's metadata document and returns its URL, which is the client id. */
function publish(path: string, document: object): string {
  const id = `https://clients.example:${(server.address() as AddressInfo).port}${path}`;
  documents.set(path, { client_id: id, ...document });
  return id;
}

/**
 * Runs the complete flow with requests of this form: consent, exchange, a call as an agent, and a refresh.
 */
async function expectConnects(
  client: OAuthTestClient,
  { redirectUri, resource, ...asked }: { redirectUri: string; resource: string; [more: string]: string },
): Promise<void> {
  const address = client.authorizeUrl({ redirect_uri: redirectUri, resource, ...asked });
  const back = await consentedAddress(browser, address, form);
  expect(back.startsWith(`${redirectUri}?`)).toBe(true);
  const answer = new URL(back).searchParams;
  expect(answer.get('iss')).toBe(installation.url());
  const given = await client.exchange(answer.get('code') ?? '', { redirect_uri: redirectUri, resource });
  expect([given.status, given.body]).toEqual([200, expect.objectContaining({ scope: 'read write' })]);
  const called = await callWith(installation, String(given.body['access_token']), 'session.identity');
  expect([called.status, called.body]).toMatchObject([200, { agent: { name: 'Claude' } }]);
  const next = await client.refresh(String(given.body['refresh_token']), { resource });
  expect(next.status).toBe(200);
}

describe('VS Code', () => {
  const redirectUris = [
    ...['https://insiders.vscode.dev/redirect', 'https://vscode.dev/redirect'],
    ...['http://127.0.0.1/', 'http://127.0.0.1:33418/'],
  ];

  /** The client compares the metadata's resource with the URL that it was given, character by character. */
  it.each([
    '/api/mcp',
    '/api/mcp?mode=core',
    '/api/mcp?mode=core&project=WEB',
    '/api/mcp/core',
    '/api/mcp/core/readonly',
    '/api/mcp/',
    '/api/mcp/core/',
    '/api/mcp?exclude=%22\\x"',
  ])('finds who gives tokens for the very address that it was given: %s', async (path) => {
    const address = new URL(path, installation.url());
    const refused = await request(address, { method: 'POST' });
    await refused.body.dump();
    const [, metadataUrl = ''] =
      /resource_metadata="([^"]+)"/.exec(String(refused.headers['www-authenticate'])) ?? [];
    expect([refused.statusCode, metadataUrl]).toEqual([
      401,
      expect.stringContaining(
        `${installation.url()}/.well-known/oauth-protected-resource${address.pathname}`,
      ),
    ]);
    const answer = await request(metadataUrl);
    const metadata = (await answer.body.json()) as { resource: string; authorization_servers: string[] };
    expect(new URL(metadata.resource).href).toBe(address.href.replaceAll('\\', '%5C'));
    expect(metadata.authorization_servers).toEqual([installation.url()]);
  });

  it.each([
    ['on the same computer', 'http://127.0.0.1:33418/'],
    ['on the same computer, its port taken', 'http://127.0.0.1:51234/'],
    ['by its own page', 'https://vscode.dev/redirect'],
  ])('registers and connects, %s', async (_where, redirectUri) => {
    const id = await register(installation, {
      ...{ client_name: 'Visual Studio Code', client_uri: 'https://code.visualstudio.com' },
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      ...{ response_types: ['code'], redirect_uris: redirectUris, scope: 'read write' },
      ...{ token_endpoint_auth_method: 'none', application_type: 'native' },
    });
    const resource = `${installation.url()}/api/mcp?mode=core`;
    await expectConnects(clientOf(installation, id), { redirectUri, resource });
  });

  it('connects by its document', async () => {
    const id = publish('/oauth/client-metadata.json', {
      ...{ client_name: 'Visual Studio Code', client_uri: 'https://vscode.dev/product' },
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      ...{
        response_types: ['code'],
        redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
      },
      ...{ token_endpoint_auth_method: 'none', application_type: 'native' },
    });
    const resource = `${installation.url()}/api/mcp/core`;
    const client = clientOf(installation, id);
    await expectConnects(client, { redirectUri: 'http://127.0.0.1:33418/', resource });
  });
});

describe('Cursor', () => {
  const ownScheme = 'cursor://anysphere.cursor-mcp/oauth/callback';
  const redirectUris = [
    ownScheme,
    'https://www.cursor.com/agents/mcp/oauth/callback',
    'http://localhost:8787/callback',
  ];

  it.each(redirectUris)('registers with all of its addresses, and connects by %s', async (redirectUri) => {
    const id = await register(installation, {
      ...{ client_name: 'Cursor', redirect_uris: redirectUris, token_endpoint_auth_method: 'none' },
      ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
    });
    const client = clientOf(installation, id);
    await expectConnects(client, { redirectUri, resource: `${installation.url()}/api/mcp?mode=core` });
  });

  it('is told apart from a page: the answer goes to a program on this computer', async () => {
    const id = await register(installation, { client_name: 'Cursor', redirect_uris: redirectUris });
    const asked = clientOf(installation, id).authorizeUrl({ redirect_uri: ownScheme });
    expect((await openRequest(browser, asked)).text).toContain('a program on this computer (cursor:…)');
  });
});

describe('Claude Code', () => {
  it.each(['http://localhost:60351/callback', 'http://127.0.0.1:52163/callback'])(
    'connects by its document, which names no port, from %s',
    async (redirectUri) => {
      const id = publish('/oauth/claude-code-client-metadata', {
        ...{ client_name: 'Claude Code', client_uri: 'https://claude.ai' },
        redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
        ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
        token_endpoint_auth_method: 'none',
      });
      const resource = `${installation.url()}/api/mcp?mode=core`;
      await expectConnects(clientOf(installation, id), {
        ...{ redirectUri, resource, scope: ' offline_access', prompt: 'consent' },
      });
    },
  );
});
