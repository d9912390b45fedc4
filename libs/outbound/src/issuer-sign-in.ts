/** Signing in at an issuer by OpenID Connect: where a person is sent, and what the answer says of them. */
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
import { type Issuer, openIssuer } from './issuers.ts';
import { type Sender } from './sender.ts';

/** What is kept while a person is at an issuer, in the browser that asked. */
export interface IssuerQuestion {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** What an issuer says of a person. */
export interface IssuerAnswer {
  readonly issuer: string;
  readonly subject: string;
  /** As it says it, which may be no address, and no name; null where it says none. */
  readonly email: string | null;
  readonly name: string | null;
  /** Whether the issuer says that the address is theirs; null where it does not say. */
  readonly isVerified: boolean | null;
  /** When the person proved who they are there; null where it is not said. */
  readonly provenAt: string | null;
  /** All of it, by the names of the claims. */
  readonly claims: Readonly<Record<string, unknown>>;
}

export interface IssuerAsk {
  /** Where the issuer sends the person back to. */
  readonly redirectUrl: string;
  /** As whom they say that they come; null where that was not asked. */
  readonly email: string | null;
  /** How old a proof there may be; null: as old as the issuer lets it be. */
  readonly provenWithinSeconds: number | null;
}

export interface IssuerSignIn {
  /** Where to send a person, and what to keep meanwhile. Throws where the issuer cannot be used. */
  begin(
    issuer: Issuer,
    ask: IssuerAsk,
  ): Promise<{ readonly address: string; readonly question: IssuerQuestion }>;
  /**
   * What the issuer's answer says, which `at` has. A claim of `needed` that the ID token has not is looked for where the issuer
   * says more of a person. Throws where any of it does not fit what was asked.
   */
  end(issuer: Issuer, question: IssuerQuestion, at: URL, needed: readonly string[]): Promise<IssuerAnswer>;
}

/** Metadata and keys are kept for ten minutes: people sign in at the same few issuers. */
const keeping = { max: 1_000, ttl: 600_000 };
/** How far the clock of an issuer may be ahead. */
const aheadMillis = 300_000;

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** A time to come is no time of a proof: it was written in milliseconds. */
const timeOf = (seconds: unknown): string | null =>
  typeof seconds === 'number' && seconds * 1_000 <= Date.now() + aheadMillis
    ? new Date(seconds * 1_000).toISOString()
    : null;

export function createIssuerSignIn(sender: Sender): IssuerSignIn {
  const kept = new LRUCache<string, Promise<Configuration>>(keeping);

  const open = ({ issuer, clientId, clientSecret }: Issuer): Promise<Configuration> => {
    const key = JSON.stringify([issuer, clientId, clientSecret]);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const opened = openIssuer(sender, { issuer, clientId, clientSecret });
    kept.set(key, opened);
    // What failed is asked again.
    opened.catch(() => kept.delete(key));
    return opened;
  };

  return {
    begin: async (issuer, { redirectUrl, email, provenWithinSeconds }) => {
      const opened = await open(issuer);
      const [state, nonce, verifier] = [randomState(), randomNonce(), randomPKCECodeVerifier()];
      const address = buildAuthorizationUrl(opened, {
        ...{ redirect_uri: redirectUrl, scope: 'openid email profile', state, nonce },
        ...{ code_challenge: await calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
        ...(email !== null && { login_hint: email }),
        ...(provenWithinSeconds !== null && { prompt: 'login', max_age: String(provenWithinSeconds) }),
      });
      return { address: address.href, question: { state, nonce, verifier } };
    },
    end: async (issuer, { state, nonce, verifier }, at, needed) => {
      const opened = await open(issuer);
      const tokens = await authorizationCodeGrant(opened, at, {
        ...{ pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce },
      });
      const token = tokens.claims();
      if (token === undefined) throw new Error('the issuer gave no ID token');
      // Many issuers say the address only where they are asked for it by the token.
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
        provenAt: timeOf(token.auth_time),
      };
    },
  };
}
