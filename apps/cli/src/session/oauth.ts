/**
 * Requests to the authorization server: an authorization page (RFC 6749, 4.1), a device code (RFC 8628), a
 * refresh, and a revocation (RFC 7009).
 */
import { setTimeout as pause } from 'node:timers/promises';
import { NoAnswer } from '@muster/client';
import { z } from 'zod';
import { UsageError } from '@muster/terminal';
import { SignInFailedError } from '../failures.ts';
import { type OAuthLogin } from './profiles.ts';

/** The id of the command line as a public client. */
const clientId = 'muster-cli';
/** The time limit for an answer. */
const requestTimeoutMillis = 10_000;
/**
 * The polling interval if the server names none, and the increment after a `slow_down` (RFC 8628, 3.2 and
 * 3.5).
 */
const defaultPollSeconds = 5;

const Metadata = z.object({
  issuer: z.url(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  device_authorization_endpoint: z.url(),
  revocation_endpoint: z.url(),
});
export type Metadata = z.infer<typeof Metadata>;

const DeviceAuthorization = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.url(),
  expires_in: z.number(),
  interval: z.number().default(defaultPollSeconds),
});
export type DeviceAuthorization = z.infer<typeof DeviceAuthorization>;

const TokenResponse = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  expires_in: z.number(),
});
const OAuthErrorResponse = z.object({ error: z.string(), error_description: z.string().optional() });

/** A token as it is stored, with the data for renewing it. */
export interface StoredLogin {
  readonly token: string;
  readonly oauth: OAuthLogin;
}

async function sendRequest(url: URL, form?: Record<string, string>): Promise<Response> {
  try {
    return await fetch(url, {
      ...{ redirect: 'error', signal: AbortSignal.timeout(requestTimeoutMillis) },
      headers: { accept: 'application/json' },
      ...(form !== undefined && {
        method: 'POST',
        body: new URLSearchParams({ client_id: clientId, ...form }),
      }),
    });
  } catch (cause) {
    throw new NoAnswer(`no answer from ${url.origin}`, cause);
  }
}

const unexpectedResponseError = (url: URL, { status }: Response): NoAnswer =>
  new NoAnswer(`${url.origin} answered ${status} in an unexpected format`);

/**
 * Sends a request to the authorization server. Returns the parsed response, or the OAuth error that the
 * server names. Throws NoAnswer for any other response.
 */
async function requestJson<Shape extends z.ZodType>(
  endpoint: string,
  form: Record<string, string>,
  schema: Shape,
): Promise<{ readonly good: z.infer<Shape> } | { readonly error: string; readonly why: string }> {
  const url = new URL(endpoint);
  const answer = await sendRequest(url, form);
  const body: unknown = await answer.json().catch(() => undefined);
  const good = answer.ok ? schema.safeParse(body) : undefined;
  if (good?.success === true) return { good: good.data };
  const refusal = OAuthErrorResponse.safeParse(body);
  if (answer.status >= 500 || !refusal.success) throw unexpectedResponseError(url, answer);
  const { error, error_description: why = error } = refusal.data;
  return { error, why };
}

/**
 * Fetches the metadata of an installation's authorization server (RFC 8414). Returns undefined if it has
 * none. Secrets are sent only to the requested origin.
 */
export async function fetchMetadata(baseUrl: string): Promise<Metadata | undefined> {
  const url = new URL('/.well-known/oauth-authorization-server', baseUrl);
  const answer = await sendRequest(url);
  if (answer.status >= 500) throw unexpectedResponseError(url, answer);
  const { data } = Metadata.safeParse(answer.ok ? await answer.json().catch(() => undefined) : undefined);
  if (data === undefined) return undefined;
  const issuer = new URL(data.issuer).origin;
  if (issuer !== url.origin)
    throw new UsageError(`people sign in to this installation at ${issuer}; run muster login ${issuer}`);
  const endpoints = [
    ...[data.authorization_endpoint, data.token_endpoint],
    ...[data.device_authorization_endpoint, data.revocation_endpoint],
  ];
  if (endpoints.some((endpoint) => new URL(endpoint).origin !== issuer))
    throw new UsageError(`the sign-in metadata of ${issuer} contains addresses of another origin`);
  return data;
}

/** Returns the resource of a login, which is the API itself. */
const apiResourceOf = ({ issuer }: Metadata): string => new URL('/api', issuer).href;

export async function startDeviceSignIn(metadata: Metadata, scope: string): Promise<DeviceAuthorization> {
  const resource = apiResourceOf(metadata);
  const answer = await requestJson(
    metadata.device_authorization_endpoint,
    { scope, resource },
    DeviceAuthorization,
  );
  if ('error' in answer) throw new SignInFailedError(answer.why);
  return answer.good;
}

const toStoredLogin = (
  { access_token: token, refresh_token: refreshToken, expires_in: seconds }: z.infer<typeof TokenResponse>,
  endpoints: Pick<OAuthLogin, 'tokenUrl' | 'revocationUrl'>,
): StoredLogin => ({
  token,
  oauth: { ...endpoints, refreshToken, expiresAt: new Date(Date.now() + seconds * 1_000).toISOString() },
});
const tokenEndpointsOf = (metadata: Metadata): Pick<OAuthLogin, 'tokenUrl' | 'revocationUrl'> => ({
  tokenUrl: metadata.token_endpoint,
  revocationUrl: metadata.revocation_endpoint,
});

/**
 * The parameters of an authorization request. The challenge belongs to a verifier that only this process
 * knows (RFC 7636, S256).
 */
export interface AuthorizationCodeRequest {
  readonly scope: string;
  readonly state: string;
  readonly redirectUri: string;
  readonly challenge: string;
}

/** Returns the address of the page on which a person answers. */
export function authorizationUrl(metadata: Metadata, request: AuthorizationCodeRequest): string {
  const url = new URL(metadata.authorization_endpoint);
  const said = {
    ...{ client_id: clientId, response_type: 'code', redirect_uri: request.redirectUri },
    ...{ scope: request.scope, resource: apiResourceOf(metadata), state: request.state },
    ...{ code_challenge: request.challenge, code_challenge_method: 'S256' },
  };
  for (const [name, value] of Object.entries(said)) url.searchParams.set(name, value);
  return url.href;
}

/** Exchanges a code for tokens. Throws SignInFailedError if the server rejects it. */
export async function exchangeCode(
  metadata: Metadata,
  { redirectUri }: AuthorizationCodeRequest,
  { code, verifier }: { readonly code: string; readonly verifier: string },
): Promise<StoredLogin> {
  const form = {
    ...{ grant_type: 'authorization_code', code, redirect_uri: redirectUri },
    ...{ code_verifier: verifier, resource: apiResourceOf(metadata) },
  };
  const answer = await requestJson(metadata.token_endpoint, form, TokenResponse);
  if ('error' in answer) throw new SignInFailedError(answer.why);
  return toStoredLogin(answer.good, tokenEndpointsOf(metadata));
}

/** Waits until a person has answered. Throws SignInFailedError if the person refused or the code expired. */
export async function pollForDeviceToken(
  metadata: Metadata,
  device: DeviceAuthorization,
): Promise<StoredLogin> {
  const over = new SignInFailedError(
    'the code expired before it was entered; run muster login for a new one',
  );
  const deadline = performance.now() + device.expires_in * 1_000;
  let seconds = device.interval;
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: device.device_code,
    resource: apiResourceOf(metadata),
  };
  while (performance.now() < deadline) {
    await pause(seconds * 1_000);
    const answer = await requestJson(metadata.token_endpoint, form, TokenResponse).catch((error: unknown) => {
      // The server may be unreachable for a while. The code stays valid.
      if (error instanceof NoAnswer) return { error: 'slow_down', why: error.message };
      throw error;
    });
    if ('good' in answer) return toStoredLogin(answer.good, tokenEndpointsOf(metadata));
    if (answer.error === 'slow_down') seconds += defaultPollSeconds;
    else if (answer.error === 'access_denied')
      throw new SignInFailedError('the request was denied in the browser');
    else if (answer.error === 'expired_token') throw over;
    else if (answer.error !== 'authorization_pending') throw new SignInFailedError(answer.why);
  }
  throw over;
}

/**
 * Requests the next token. Returns undefined if the login has ended. Throws NoAnswer if the server cannot
 * tell.
 */
export async function refreshLogin({
  refreshToken,
  ...addresses
}: OAuthLogin): Promise<StoredLogin | undefined> {
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
  const answer = await requestJson(addresses.tokenUrl, form, TokenResponse);
  return 'good' in answer ? toStoredLogin(answer.good, addresses) : undefined;
}

/**
 * Ends the login at the server by revoking its refresh token. Returns false if the server did not confirm the
 * revocation.
 */
export async function revokeLogin({ refreshToken, revocationUrl }: OAuthLogin): Promise<boolean> {
  const form = { token: refreshToken, token_type_hint: 'refresh_token' };
  return sendRequest(new URL(revocationUrl), form).then(
    ({ ok }) => ok,
    () => false,
  );
}
