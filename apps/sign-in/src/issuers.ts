/** Signing in at an issuer: where a person is sent, and what the answer says of them. */
import { type Seals } from '@muster/outbound';
import { openIssuer } from '@muster/outbound/issuers';
import { type Sender } from '@muster/outbound/sender';
import { providerSecretOwner } from '@muster/organizations';
import { EmailAddress, proofMinutes } from '@muster/registry';
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
import { type Provider } from './data/providers.ts';

/** What is kept while a person is at an issuer. */
export interface IssuerFlow {
  readonly providerId: string;
  readonly orgId: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Where the person was going. */
  readonly to: string;
}

/** What an issuer says of a person. */
export interface Claimed {
  readonly issuer: string;
  readonly subject: string;
  /** Null where it says none that is one. */
  readonly email: string | null;
  /** Whether the issuer says that the address is theirs; null where it does not say. */
  readonly isVerified: boolean | null;
  readonly name: string | null;
  /** When the person proved who they are there; null where it is not said. */
  readonly provenAt: string | null;
}

export interface Issuers {
  /** Where to send a person, and what to keep meanwhile. Throws where the issuer cannot be used. */
  begin(provider: Provider, ask: Ask): Promise<{ readonly address: string; readonly flow: IssuerFlow }>;
  /** What the issuer's answer says, which `at` has. Throws where any of it does not fit what was asked. */
  end(provider: Provider, flow: IssuerFlow, at: URL): Promise<Claimed>;
}

export interface Ask {
  /** Where the issuer sends the person back to. */
  readonly redirectUrl: string;
  readonly to: string;
  readonly email: string | null;
  /** Whether the person has to prove anew who they are: they are signed in, and something asks for it. */
  readonly isAnew: boolean;
}

const keptMillis = 600_000;
const mostKept = 1_000;

const textOf = (value: unknown, most: number): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, most) : null;

export function createIssuers({
  sender,
  seals,
}: {
  readonly sender: Sender;
  readonly seals: Seals;
}): Issuers {
  const kept = new Map<string, { readonly until: number; readonly opened: Promise<Configuration> }>();

  /** Metadata and keys are kept for a while: people sign in at the same few issuers. */
  const open = (provider: Provider): Promise<Configuration> => {
    const { id, issuer, clientId, secret, organizationKey } = provider;
    const clientSecret = secret && seals.open(providerSecretOwner(organizationKey, id), secret);
    if (clientSecret === undefined) throw new Error('no SECRETS_KEY of the installation opens its secret');
    const key = JSON.stringify([issuer, clientId, clientSecret]);
    const known = kept.get(key);
    if (known !== undefined && known.until > Date.now()) return known.opened;
    if (kept.size >= mostKept) kept.clear();
    const opened = openIssuer(sender, { issuer, clientId, clientSecret });
    kept.set(key, { until: Date.now() + keptMillis, opened });
    // What failed is asked again.
    opened.catch(() => kept.delete(key));
    return opened;
  };

  return {
    begin: async (provider, { redirectUrl, to, email, isAnew }) => {
      const opened = await open(provider);
      const [state, nonce, verifier] = [randomState(), randomNonce(), randomPKCECodeVerifier()];
      const address = buildAuthorizationUrl(opened, {
        ...{ redirect_uri: redirectUrl, scope: 'openid email profile', state, nonce },
        ...{ code_challenge: await calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
        ...(email !== null && { login_hint: email }),
        ...(isAnew && { prompt: 'login', max_age: String(proofMinutes * 60) }),
      });
      const { id: providerId, orgId } = provider;
      return { address: address.href, flow: { providerId, orgId, state, nonce, verifier, to } };
    },
    end: async (provider, { state, nonce, verifier }, at) => {
      const opened = await open(provider);
      const tokens = await authorizationCodeGrant(opened, at, {
        ...{ pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce },
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('the issuer gave no ID token');
      // Many issuers say the address only where they are asked for it by the token.
      const hasMore =
        claims['email'] === undefined && opened.serverMetadata().userinfo_endpoint !== undefined;
      const said = hasMore
        ? { ...(await fetchUserInfo(opened, tokens.access_token, claims.sub)), ...claims }
        : claims;
      const email = EmailAddress.safeParse(said['email']);
      const isVerified = said['email_verified'];
      return {
        ...{ issuer: provider.issuer, subject: claims.sub, email: email.success ? email.data : null },
        isVerified: isVerified === undefined ? null : isVerified === true || isVerified === 'true',
        name: textOf(said['name'], 120),
        provenAt:
          typeof claims.auth_time === 'number' ? new Date(claims.auth_time * 1_000).toISOString() : null,
      };
    },
  };
}
