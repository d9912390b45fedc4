/** Sign-in at an OpenID Connect issuer: the redirect to it, and the claims in its answer. */
import { LRUCache } from 'lru-cache';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type Configuration,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { type Issuer, discoverIssuer } from './issuers.ts';
import { type Sender } from './sender.ts';

/** The values that the browser keeps while a person signs in at an issuer. */
export interface IssuerSignInState {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The claims of an issuer about a person. */
export interface IssuerIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** The address as the issuer states it, which may be invalid; null if it states none. */
  readonly email: string | null;
  readonly name: string | null;
  /** The issuer's statement that it verified the address; null if it makes none. */
  readonly isVerified: boolean | null;
  /** The time at which the person last authenticated at the issuer; null if the issuer does not state it. */
  readonly authenticatedAt: string | null;
  /** All claims by their names. */
  readonly claims: Readonly<Record<string, unknown>>;
}

export interface IssuerSignInRequest {
  /** The URL to which the issuer redirects the person after sign-in. */
  readonly redirectUrl: string;
  /** The e-mail address that the person entered (`login_hint`); null if no address was asked for. */
  readonly email: string | null;
  /** The maximum age of the authentication in seconds; null accepts any age that the issuer accepts. */
  readonly maxAuthAgeSeconds: number | null;
}

export interface IssuerSignIn {
  /**
   * Returns the URL of the issuer and the values to keep until it answers. Throws if the issuer cannot be
   * used.
   */
  startSignIn(
    issuer: Issuer,
    request: IssuerSignInRequest,
  ): Promise<{ readonly authorizationUrl: string; readonly question: IssuerSignInState }>;
  /**
   * Reads the claims from the issuer's answer, which the query of the URL `at` contains. If the ID token
   * lacks one of the claims in `needed`, the claims of the issuer's userinfo endpoint are added. Throws if
   * any part does not match the request.
   */
  finishSignIn(
    issuer: Issuer,
    question: IssuerSignInState,
    callbackUrl: URL,
    requiredClaims: readonly string[],
  ): Promise<IssuerIdentity>;
}

/**
 * The cache of metadata and keys. Entries live for ten minutes, because people sign in at the same few
 * issuers.
 */
const metadataCacheOptions = { max: 1_000, ttl: 600_000 };
/** The tolerance for an issuer's clock that is ahead. */
const maxClockSkewMillis = 300_000;

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/**
 * Converts a time in seconds to ISO 8601. A time in the future is ignored: such an issuer wrote milliseconds.
 */
const timeOf = (seconds: unknown): string | null =>
  typeof seconds === 'number' && seconds * 1_000 <= Date.now() + maxClockSkewMillis
    ? new Date(seconds * 1_000).toISOString()
    : null;

export function createIssuerSignIn(sender: Sender): IssuerSignIn {
  const configurationsByIssuer = new LRUCache<string, Promise<Configuration>>(metadataCacheOptions);

  const open = ({ issuer, clientId, clientSecret }: Issuer): Promise<Configuration> => {
    const key = JSON.stringify([issuer, clientId, clientSecret]);
    const known = configurationsByIssuer.get(key);
    if (known !== undefined) return known;
    const opened = discoverIssuer(sender, { issuer, clientId, clientSecret });
    configurationsByIssuer.set(key, opened);
    // Failures are not cached.
    opened.catch(() => configurationsByIssuer.delete(key));
    return opened;
  };

  return {
    startSignIn: async (issuer, { redirectUrl, email, maxAuthAgeSeconds: provenWithinSeconds }) => {
      const opened = await open(issuer);
      const [state, nonce, verifier] = [randomState(), randomNonce(), randomPKCECodeVerifier()];
      const address = buildAuthorizationUrl(opened, {
        ...{ redirect_uri: redirectUrl, scope: 'openid email profile', state, nonce },
        ...{ code_challenge: await calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
        ...(email !== null && { login_hint: email }),
        ...(provenWithinSeconds !== null && { prompt: 'login', max_age: String(provenWithinSeconds) }),
      });
      return { authorizationUrl: address.href, question: { state, nonce, verifier } };
    },
    finishSignIn: async (issuer, { state, nonce, verifier }, at, needed) => {
      const opened = await open(issuer);
      const tokens = await authorizationCodeGrant(opened, at, {
        ...{ pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce },
      });
      const token = tokens.claims();
      if (token === undefined) throw new Error('the issuer returned no ID token');
      // Many issuers state the address only at the userinfo endpoint.
      const isMoreNeeded = needed.some((name) => token[name] === undefined);
      const claims =
        isMoreNeeded && opened.serverMetadata().userinfo_endpoint !== undefined
          ? { ...(await fetchUserInfo(opened, tokens.access_token, token.sub)), ...token }
          : token;
      const isVerified = claims['email_verified'];
      return {
        ...{ issuer: issuer.issuer, subject: token.sub, claims },
        email: textOf(claims['email']),
        name: textOf(claims['name']),
        isVerified: isVerified === undefined ? null : isVerified === true || isVerified === 'true',
        authenticatedAt: timeOf(token.auth_time),
      };
    },
  };
}
