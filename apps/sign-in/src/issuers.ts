/** Signing in at an organization's issuer, whose secret is opened for it. */
import { type Seals } from '@muster/outbound';
import { createIssuerSignIn, type IssuerAnswer, type IssuerQuestion } from '@muster/outbound/issuer-sign-in';
import { type Issuer } from '@muster/outbound/issuers';
import { type Sender } from '@muster/outbound/sender';
import { providerSecretOwner } from '@muster/organizations';
import { EmailAddress, isCleanText, MemberName, proofMinutes } from '@muster/registry';
import { type Provider } from './data/providers.ts';

/** What is kept while a person is at an issuer. */
export interface IssuerFlow extends IssuerQuestion {
  readonly providerId: string;
  readonly orgId: string;
  /** Where the person was going. */
  readonly to: string;
  readonly isAnew: boolean;
}

/** What an issuer says of a person; an address or a name that is none is null. */
export type Claimed = Omit<IssuerAnswer, 'claims'>;

/** As long as OpenID Connect lets it be. */
const mostOfSubject = 255;

/** When an issuer had a new proof that was asked of it, and of which it says no time: it may have asked the person nothing. */
const longAgo = new Date(0).toISOString();

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

export function createIssuers({
  sender,
  seals,
}: {
  readonly sender: Sender;
  readonly seals: Seals;
}): Issuers {
  const signIn = createIssuerSignIn(sender);

  const issuerOf = ({ id, issuer, clientId, secret, organizationKey }: Provider): Issuer => {
    const clientSecret = secret && seals.open(providerSecretOwner(organizationKey, id), secret);
    if (clientSecret === undefined) throw new Error('no SECRETS_KEY of the installation opens its secret');
    return { issuer, clientId, clientSecret };
  };

  return {
    begin: async (provider, { redirectUrl, to, email, isAnew }) => {
      const provenWithinSeconds = isAnew ? proofMinutes * 60 : null;
      const { address, question } = await signIn.begin(issuerOf(provider), {
        ...{ redirectUrl, email, provenWithinSeconds },
      });
      return { address, flow: { ...question, providerId: provider.id, orgId: provider.orgId, to, isAnew } };
    },
    end: async (provider, flow, at) => {
      const said = await signIn.end(issuerOf(provider), flow, at, ['email']);
      if (said.subject.length > mostOfSubject || !isCleanText(said.subject))
        throw new Error('the issuer calls the person by no subject');
      const { data: email = null } = EmailAddress.safeParse(said.email);
      const { data: name = null } = MemberName.safeParse(said.name);
      const provenAt = said.provenAt ?? (flow.isAnew ? longAgo : null);
      return { ...said, email, name, provenAt };
    },
  };
}
