/**
 * Authentication of calls to a forge: with a stored token, or with an installation token of a GitHub App,
 * which is requested first.
 */
import { createHash } from 'node:crypto';
import { forgeApiRoot, ForgeCredentials, type ForgeKind, parseUntrustedJson } from '@muster/contract';
import { LRUCache } from 'lru-cache';
import githubAppJwt from 'universal-github-app-jwt';
import { z } from 'zod';
import { encodeFullName } from './api.ts';
import { type SendForgeRequest, requireSuccess, ForgeRefusal } from './call.ts';

export interface RepositoryToCall {
  readonly connectionId: string;
  readonly kind: ForgeKind;
  readonly baseUrl: string;
  readonly fullName: string;
  /** The decrypted credentials; undefined if no key of the installation decrypts them. */
  readonly credentials: string | undefined;
}

/** Returns the headers that authenticate a call. */
export type Authorize = (repository: RepositoryToCall) => Promise<Readonly<Record<string, string>>>;

/** The headers of every request. */
const commonHeaders = { 'user-agent': 'Muster', accept: 'application/json' };
const githubOnlyHeaders = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };

/** The headers of a call to GitHub without credentials. */
export const githubHeaders: Readonly<Record<string, string>> = { ...commonHeaders, ...githubOnlyHeaders };

const headersWithToken = (kind: ForgeKind, token: string): Readonly<Record<string, string>> => ({
  ...commonHeaders,
  ...(kind === 'github' && githubOnlyHeaders),
  authorization: kind === 'gitea' || kind === 'forgejo' ? `token ${token}` : `Bearer ${token}`,
});

const Installation = z.object({ id: z.int() });
const InstallationToken = z.object({ token: z.string(), expires_at: z.string() });

/** The time before its expiry in which a token is no longer used. */
const tokenExpiryMarginMs = 5 * 60_000;

export function parseCredentials(credentialsJson: string | undefined): ForgeCredentials {
  if (credentialsJson === undefined) {
    const message = 'none of the keys in SECRETS_KEY can decrypt the credentials';
    throw new ForgeRefusal(message, { quietUntil: null, isFinal: true });
  }
  return ForgeCredentials.parse(JSON.parse(credentialsJson));
}

/**
 * Returns the cache key of a token. Another organization may configure the same app and repository with any
 * key, and only GitHub can verify that key. So a cached token is used only for the same connection and
 * credentials.
 */
const tokenCacheKey = ({
  connectionId,
  kind,
  baseUrl,
  fullName,
  credentials = '',
}: RepositoryToCall): string =>
  [
    connectionId,
    forgeApiRoot(kind, baseUrl),
    fullName,
    createHash('sha256').update(credentials).digest('base64url'),
  ].join(' ');

/**
 * Creates the functions that authenticate and send requests. Installation tokens, which are valid for one
 * hour, are cached until they are refused.
 */
export function createAuthorizedCalls(sendRequest: SendForgeRequest): {
  readonly authorize: Authorize;
  readonly ask: SendForgeRequest;
} {
  const tokens = new LRUCache<string, { readonly token: string; readonly expiresAtMs: number }>({
    max: 1_000,
  });

  const installationToken = async (
    called: RepositoryToCall,
    { appId, privateKey }: { readonly appId: number; readonly privateKey: string },
  ): Promise<string> => {
    const { kind, baseUrl, fullName } = called;
    const { token: jwt } = await githubAppJwt({ id: appId, privateKey }).catch(() => {
      const message = 'the private key of the GitHub App is invalid';
      throw new ForgeRefusal(message, { quietUntil: null, isFinal: true });
    });
    const headers = headersWithToken(kind, jwt);
    const root = forgeApiRoot(kind, baseUrl);
    const url = `${root}/repos/${encodeFullName(fullName)}/installation`;
    const found = requireSuccess(url, await sendRequest({ method: 'GET', url, headers }));
    const { id } = Installation.parse(parseUntrustedJson(found.text));
    const tokenUrl = `${root}/app/installations/${id}/access_tokens`;
    const made = requireSuccess(tokenUrl, await sendRequest({ method: 'POST', url: tokenUrl, headers }));
    const { token, expires_at: until } = InstallationToken.parse(parseUntrustedJson(made.text));
    tokens.set(tokenCacheKey(called), { token, expiresAtMs: Date.parse(until) });
    return token;
  };

  const authorize: Authorize = async (called) => {
    const { kind } = called;
    const { token, appId = 0, privateKey = '' } = parseCredentials(called.credentials);
    if (token !== undefined) return headersWithToken(kind, token);
    const known = tokens.get(tokenCacheKey(called));
    const isGood = known !== undefined && known.expiresAtMs - tokenExpiryMarginMs > Date.now();
    return headersWithToken(
      kind,
      isGood ? known.token : await installationToken(called, { appId, privateKey }),
    );
  };

  const askBy: SendForgeRequest = async (request) => {
    const answer = await sendRequest(request);
    const { status } = answer;
    const [key] =
      (status === 401 || status === 403
        ? [...tokens].find(([, { token }]) => request.headers['authorization'] === `Bearer ${token}`)
        : undefined) ?? [];
    if (key === undefined) return answer;
    // The app may have been reinstalled, or may have more permissions by now. The next token includes them.
    tokens.delete(key);
    if (status === 403) return answer;
    const message = `${new URL(request.url).host} revoked the installation token before it expired`;
    throw new ForgeRefusal(message, { quietUntil: null, isFinal: false });
  };
  return { authorize, ask: askBy };
}
