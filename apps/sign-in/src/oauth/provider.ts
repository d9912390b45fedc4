/**
 * The authorization server: oidc-provider, as MCP and RFC 9700 want it. Public clients with PKCE (S256), our own resources
 * alone, tokens of our own shape in our own table, consent each time. It signs nothing: there are no ID tokens.
 */
import { newId, type Pool } from '@muster/driver';
import { userAgentOf } from '@muster/http';
import { newTokenSecret } from '@muster/runtime';
import { type Configuration, errors, interactionPolicy, type JWK, Provider } from 'oidc-provider';
import { renderPage } from '../pages/layout.ts';
import { refusedPage } from '../pages/pages.ts';
import { commandLine, registrationOf } from './clients.ts';
import { tokenSeconds } from './connections.ts';
import { createRecords } from './records.ts';

/** Scopes that a client may ask for; `platform` is the operators' alone. */
export const clientScopes = ['read', 'write', 'admin'] as const;

export interface ProviderOptions {
  readonly pool: Pool;
  /** Where people reach Muster, without a slash at the end; the issuer. */
  readonly baseUrl: string;
  readonly isSecure: boolean;
  readonly fetchDocument: (url: URL | string) => Promise<Response>;
  readonly allowsRegistration: boolean;
}

/** What a connection is for: the tools for models, or the API itself. */
export const resourcesOf = (baseUrl: string) =>
  ({ mcp: `${baseUrl}/api/mcp`, api: `${baseUrl}/api` }) as const;

/** Which of ours a client means: it names the address that it was given, which narrows the tools by a query or below its path. */
export function ownResource(baseUrl: string, named: string): string | undefined {
  const { mcp, api } = resourcesOf(baseUrl);
  const url = URL.canParse(named) ? new URL(named) : undefined;
  if (url === undefined || url.username !== '' || url.hash !== '') return undefined;
  const bare = `${url.origin}${url.pathname.replace(/\/$/, '')}`;
  return bare.startsWith(`${mcp}/`) ? mcp : [mcp, api].find((own) => own === bare);
}

/** Of a flow in a browser, bound to it by a cookie. */
const flowSeconds = 1_800;
/** Of a code that is typed in. */
const deviceSeconds = 600;

const remaining = ({ exp }: { readonly exp?: number | undefined }): number =>
  Math.max(1, (exp ?? 0) - Math.floor(Date.now() / 1_000));

/** The server wants a key, and uses none: no token that it makes is signed. */
async function unusedKey(): Promise<JWK> {
  const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ]);
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey('jwk', privateKey);
  return { kty, crv, x, y, d, alg: 'ES256', use: 'sig' };
}

const cookieNames = {
  session: 'muster-oauth-session',
  interaction: 'muster-oauth',
  resume: 'muster-oauth-resume',
};

const clientDefaults: Configuration['clientDefaults'] = {
  ...{
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    id_token_signed_response_alg: 'ES256',
  },
  ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
};

const routes: Configuration['routes'] = {
  ...{ authorization: '/oauth/authorize', token: '/oauth/token', revocation: '/oauth/revoke' },
  ...{ registration: '/oauth/register', jwks: '/oauth/keys', end_session: '/oauth/end' },
  ...{ device_authorization: '/oauth/device/authorize', code_verification: '/oauth/device' },
};

/** In seconds. */
const lifetimes: Configuration['ttl'] = {
  ...{ AuthorizationCode: 60, DeviceCode: deviceSeconds, Interaction: flowSeconds, Session: flowSeconds },
  AccessToken: ({ oidc }) => Math.min(tokenSeconds, remaining(oidc.entities.Grant ?? {})),
  // Nothing outlives what was consented to.
  RefreshToken: ({ oidc }) => remaining(oidc.entities.Grant ?? {}),
};

function cookiesOf({ isSecure }: ProviderOptions): Configuration['cookies'] {
  const cookie = { httpOnly: true, sameSite: 'lax', secure: isSecure, signed: false } as const;
  return { names: cookieNames, long: cookie, short: cookie, keys: [] };
}

/** Asks for consent each time, whatever was granted before. */
const consentEachTime = () =>
  new interactionPolicy.Prompt(
    { name: 'consent', requestable: true },
    new interactionPolicy.Check('consent_needed', 'the person has to consent', 'consent_required', (ctx) => {
      const { result } = ctx.oidc as {
        readonly result?: { readonly consent?: { readonly grantId?: string } };
      };
      return result?.consent?.grantId === undefined;
    }),
  );

function featuresOf({ baseUrl, allowsRegistration }: ProviderOptions): Configuration['features'] {
  const resources = resourcesOf(baseUrl);
  return {
    ...{ devInteractions: { enabled: false }, dPoP: { enabled: false }, userinfo: { enabled: false } },
    ...{ rpInitiatedLogout: { enabled: false }, pushedAuthorizationRequests: { enabled: false } },
    revocation: {
      enabled: true,
      // A client ends its own connections alone.
      allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
    },
    registration: {
      ...{ enabled: allowsRegistration, issueRegistrationAccessToken: false },
      // The server refuses what it does not know; this hook runs between reading the body and checking it.
      idFactory: ({ oidc }) => {
        Object.assign(oidc, { body: registrationOf(oidc.body ?? {}) });
        return newId();
      },
    },
    clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
    deviceFlow: {
      ...{ enabled: true, charset: 'base-20', mask: '****-****' },
      // Kept with the code, and shown to the person who is asked to approve it.
      deviceInfo: (ctx) => ({ ip: ctx.ip, userAgent: userAgentOf(ctx.req) }),
    },
    resourceIndicators: {
      enabled: true,
      // Clients of the eras before name none.
      defaultResource: () => resources.mcp,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, resource) => {
        const audience = ownResource(baseUrl, resource);
        // No token for anything but ourselves.
        if (audience === undefined) throw new errors.InvalidTarget();
        return { scope: clientScopes.join(' '), audience, accessTokenFormat: 'opaque' };
      },
    },
  };
}

const renderError: Configuration['renderError'] = (ctx, { error, error_description: why }) => {
  const text = `${why ?? error}. Begin again in the program that sent you here.`;
  const { body, headers } = renderPage(refusedPage('This did not work', text, ctx.status));
  ctx.set(headers);
  ctx.body = body;
};

/** Access tokens of our own shape: what leaks is found by secret scanners, and the API takes it as any other token. */
function shapeAccessTokens(provider: Provider): void {
  const { prototype } = provider.AccessToken as unknown as {
    prototype: { generateTokenId: (this: unknown) => string };
  };
  const { generateTokenId: generate } = prototype;
  prototype.generateTokenId = function generateTokenId(): string {
    // It also says of what format the token is, so it is called all the same.
    generate.call(this);
    return newTokenSecret();
  };
}

export async function createProvider(options: ProviderOptions): Promise<Provider> {
  const configuration: Configuration = {
    adapter: createRecords(options.pool),
    clients: [commandLine],
    clientAuthMethods: ['none'],
    clientDefaults,
    cookies: cookiesOf(options),
    jwks: { keys: [await unusedKey()] },
    responseTypes: ['code'],
    // No code without PKCE; the server knows S256 alone.
    pkce: { required: () => true },
    scopes: [...clientScopes, 'offline_access'],
    claims: {},
    features: featuresOf(options),
    fetch: (address) => options.fetchDocument(address instanceof Request ? address.url : address),
    findAccount: (_ctx, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
    interactions: { policy: [consentEachTime()], url: (_ctx, { uid }) => `/oauth/consent/${uid}` },
    // A session of ours may end, and what it granted goes on.
    expiresWithSession: () => false,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    revokeGrantPolicy: () => true,
    routes,
    ttl: lifetimes,
    renderError,
  };
  const provider = new Provider(options.baseUrl, configuration);
  provider.proxy = true;
  shapeAccessTokens(provider);
  return provider;
}
