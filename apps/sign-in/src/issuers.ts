/** Signs people in at an organization's issuer, with the decrypted client secret. */
import { type SecretCipher } from '@muster/outbound';
import {
  createIssuerSignIn,
  type IssuerIdentity,
  type IssuerSignInState,
} from '@muster/outbound/issuer-sign-in';
import { type Issuer } from '@muster/outbound/issuers';
import { type Sender } from '@muster/outbound/sender';
import { providerSecretOwner } from '@muster/organizations';
import { EmailAddress, isCleanText, MemberName, identityProofValidMinutes } from '@muster/contract';
import { type SignInProvider } from './data/providers.ts';

/** Data that is stored while a person is at the issuer. */
export interface IssuerFlow extends IssuerSignInState {
  readonly providerId: string;
  readonly orgId: string;
  /** The path to which the person is redirected afterwards. */
  readonly to: string;
  readonly isAnew: boolean;
}

/** Claims of an issuer about a person. An invalid address or name is null. */
export type IssuerClaims = Omit<IssuerIdentity, 'claims'>;

/** Maximum length of a subject in OpenID Connect. */
const maxSubjectChars = 255;

/**
 * The assumed time of authentication if the issuer did not return the requested time. Such an issuer may not
 * have authenticated the person again.
 */
const unknownAuthenticationTime = new Date(0).toISOString();

export interface Issuers {
  /** Returns the URL to send a person to, and the data to store. Throws if the issuer cannot be used. */
  beginSignIn(
    provider: SignInProvider,
    signInRequest: IssuerSignInStart,
  ): Promise<{ readonly address: string; readonly flow: IssuerFlow }>;
  /**
   * Validates the issuer's response in the URL `at` and returns its claims. Throws if the response does not
   * match the request.
   */
  completeSignIn(provider: SignInProvider, flow: IssuerFlow, responseUrl: URL): Promise<IssuerClaims>;
}

export interface IssuerSignInStart {
  /** The URL to which the issuer redirects the person. */
  readonly redirectUrl: string;
  readonly to: string;
  readonly email: string | null;
  /** True if a signed-in person must authenticate again. */
  readonly isAnew: boolean;
}

interface IssuersOptions {
  readonly sender: Sender;
  readonly seals: SecretCipher;
}

export function createIssuers({ sender, seals }: IssuersOptions): Issuers {
  const signIn = createIssuerSignIn(sender);

  const issuerOf = ({ id, issuer, clientId, secret, organizationKey }: SignInProvider): Issuer => {
    const clientSecret = secret && seals.decrypt(providerSecretOwner(organizationKey, id), secret);
    if (clientSecret === undefined) throw new Error('none of the keys in SECRETS_KEY can decrypt its secret');
    return { issuer, clientId, clientSecret };
  };

  return {
    beginSignIn: async (provider, { redirectUrl, to, email, isAnew }) => {
      const provenWithinSeconds = isAnew ? identityProofValidMinutes * 60 : null;
      const { authorizationUrl: address, question } = await signIn.startSignIn(issuerOf(provider), {
        ...{ redirectUrl, email, maxAuthAgeSeconds: provenWithinSeconds },
      });
      return {
        address,
        flow: {
          ...question,
          providerId: provider.id,
          orgId: provider.orgId,
          to,
          isAnew,
        },
      };
    },
    completeSignIn: async (provider, flow, at) => {
      const claims = await signIn.finishSignIn(issuerOf(provider), flow, at, ['email']);
      if (claims.subject.length > maxSubjectChars || !isCleanText(claims.subject))
        throw new Error('the issuer calls the person by no subject');
      const { data: email = null } = EmailAddress.safeParse(claims.email);
      const { data: name = null } = MemberName.safeParse(claims.name);
      const provenAt = claims.authenticatedAt ?? (flow.isAnew ? unknownAuthenticationTime : null);
      return { ...claims, email, name, authenticatedAt: provenAt };
    },
  };
}
