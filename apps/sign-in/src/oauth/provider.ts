/**
 * The authorization server: oidc-provider, configured as MCP and RFC 9700 require. It allows only public
 * clients with PKCE (S256) and our own resources. It asks for consent each time. Tokens have our own format
 * and table. It signs nothing, because there are no ID tokens.
 */
import { newId, type Pool } from '@muster/driver';
import { userAgentOf } from '@muster/http';
import { newTokenSecret } from '@muster/runtime';
import { type Configuration, errors, interactionPolicy, type JWK, Provider } from 'oidc-provider';
import { renderPage } from '../pages/layout.ts';
import { failurePage } from '../pages/pages.ts';
import { commandLineClient, normalizeRegistration } from './clients.ts';
import { accessTokenSeconds } from './connections.ts';
import { createAdapterFactory } from './records.ts';

/** Scopes that a client may request; `platform` is reserved for operators. */
export const clientScopes = ['read', 'write', 'admin'] as const;

export interface ProviderOptions {
  readonly pool: Pool;
  /** Muster's public URL without a trailing slash; also the issuer. */
  readonly baseUrl: string;
  readonly isSecure: boolean;
  readonly fetchDocument: (url: URL | string) => Promise<Response>;
  readonly allowsRegistration: boolean;
}

/** Returns the resources that a connection can be for: the MCP endpoint, or the API. */
export const resourceUrlsOf = (baseUrl: string) =>
  ({ mcp: `${baseUrl}/api/mcp`, api: `${baseUrl}/api` }) as const;

/**
 * Returns the resource that a client's URL refers to. The URL may restrict tools by a query or by a path
 * suffix.
 */
export function resolveResource(baseUrl: string, requestedUrl: string): string | undefined {
  const { mcp, api } = resourceUrlsOf(baseUrl);
  const url = URL.canParse(requestedUrl) ? new URL(requestedUrl) : undefined;
  if (url === undefined || url.username !== '' || url.hash !== '') return undefined;
  const bare = `${url.origin}${url.pathname.replace(/\/$/, '')}`;
  return bare.startsWith(`${mcp}/`) ? mcp : [mcp, api].find((own) => own === bare);
}

/** Lifetime of a browser flow, which a cookie binds to the browser. */
const flowLifetimeSeconds = 1_800;
/** Lifetime of a device code. */
const deviceCodeLifetimeSeconds = 600;

const remainingSeconds = ({ exp }: { readonly exp?: number | undefined }): number =>
  Math.max(1, (exp ?? 0) - Math.floor(Date.now() / 1_000));

/** Creates a signing key. The server requires one but never uses it, because no token is signed. */
async function createUnusedSigningKey(): Promise<JWK> {
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
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  id_token_signed_response_alg: 'ES256',
  ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
};

const routes: Configuration['routes'] = {
  ...{ authorization: '/oauth/authorize', token: '/oauth/token', revocation: '/oauth/revoke' },
  ...{ registration: '/oauth/register', jwks: '/oauth/keys', end_session: '/oauth/end' },
  ...{ device_authorization: '/oauth/device/authorize', code_verification: '/oauth/device' },
};

/** Lifetimes in seconds. */
const lifetimes: Configuration['ttl'] = {
  AuthorizationCode: 60,
  DeviceCode: deviceCodeLifetimeSeconds,
  Interaction: flowLifetimeSeconds,
  Session: flowLifetimeSeconds,
  AccessToken: ({ oidc }) => Math.min(accessTokenSeconds, remainingSeconds(oidc.entities.Grant ?? {})),
  // A refresh token expires together with its grant.
  RefreshToken: ({ oidc }) => remainingSeconds(oidc.entities.Grant ?? {}),
};

function cookieConfiguration({ isSecure }: ProviderOptions): Configuration['cookies'] {
  const cookie = { httpOnly: true, sameSite: 'lax', secure: isSecure, signed: false } as const;
  return { names: cookieNames, long: cookie, short: cookie, keys: [] };
}

/** Requests consent each time, even after earlier grants. */
const createConsentPrompt = () =>
  new interactionPolicy.Prompt(
    { name: 'consent', requestable: true },
    new interactionPolicy.Check('consent_needed', 'the person has to consent', 'consent_required', (ctx) => {
      const { result } = ctx.oidc as {
        readonly result?: { readonly consent?: { readonly grantId?: string } };
      };
      return result?.consent?.grantId === undefined;
    }),
  );

function featureConfiguration({ baseUrl, allowsRegistration }: ProviderOptions): Configuration['features'] {
  const resources = resourceUrlsOf(baseUrl);
  return {
    ...{ devInteractions: { enabled: false }, dPoP: { enabled: false }, userinfo: { enabled: false } },
    ...{ rpInitiatedLogout: { enabled: false }, pushedAuthorizationRequests: { enabled: false } },
    revocation: {
      enabled: true,
      // A client may revoke only its own connections.
      allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
    },
    registration: {
      ...{ enabled: allowsRegistration, issueRegistrationAccessToken: false },
      // The authorization server rejects registrations with unsupported fields. This hook removes such
      // fields. It runs after the body is read and before the body is validated.
      idFactory: ({ oidc }) => {
        Object.assign(oidc, { body: normalizeRegistration(oidc.body ?? {}) });
        return newId();
      },
    },
    clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
    deviceFlow: {
      ...{ enabled: true, charset: 'base-20', mask: '****-****' },
      // The origin of the request for the code. It is stored with the code, and shown to the person who is
      // asked to approve the device.
      deviceInfo: (ctx) => ({ ip: ctx.ip, userAgent: userAgentOf(ctx.req) }),
    },
    resourceIndicators: {
      enabled: true,
      // Clients of older protocol revisions name no resource.
      defaultResource: () => resources.mcp,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, resource) => {
        const audience = resolveResource(baseUrl, resource);
        // Reject resources of other servers.
        if (audience === undefined) throw new errors.InvalidTarget();
        return { scope: clientScopes.join(' '), audience, accessTokenFormat: 'opaque' };
      },
    },
  };
}

const renderError: Configuration['renderError'] = (ctx, { error, error_description: why }) => {
  const text = `${why ?? error}. Return to the program that sent you here and start again.`;
  const { body, headers } = renderPage(failurePage('Something went wrong', text, ctx.status));
  ctx.set(headers);
  ctx.body = body;
};

/**
 * Gives access tokens our own format, so that secret scanners recognize leaked ones and the API accepts them
 * like other tokens.
 */
function useOwnTokenFormat(provider: Provider): void {
  const { prototype } = provider.AccessToken as unknown as {
    prototype: { generateTokenId: (this: unknown) => string };
  };
  const { generateTokenId: generate } = prototype;
  prototype.generateTokenId = function generateTokenId(): string {
    // Also call the original method, because it sets the token's format.
    generate.call(this);
    return newTokenSecret();
  };
}

export async function createProvider(options: ProviderOptions): Promise<Provider> {
  const configuration: Configuration = {
    adapter: createAdapterFactory(options.pool),
    clients: [commandLineClient],
    clientAuthMethods: ['none'],
    clientDefaults,
    cookies: cookieConfiguration(options),
    jwks: { keys: [await createUnusedSigningKey()] },
    responseTypes: ['code'],
    // Every code requires PKCE; the server supports only S256.
    pkce: { required: () => true },
    scopes: [...clientScopes, 'offline_access'],
    claims: {},
    features: featureConfiguration(options),
    fetch: (address) => options.fetchDocument(address instanceof Request ? address.url : address),
    findAccount: (_ctx, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
    interactions: { policy: [createConsentPrompt()], url: (_ctx, { uid }) => `/oauth/consent/${uid}` },
    // A grant remains valid after the person's session has ended.
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
  useOwnTokenFormat(provider);
  return provider;
}
