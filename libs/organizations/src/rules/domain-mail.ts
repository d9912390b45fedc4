/** The text of the e-mail about a missing DNS record. */
import { readable } from './readable.ts';

/** The grace period in days in which a domain without its record stays valid. */
export const domainGraceDays = 7;

export interface DomainMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface MissingDomain {
  readonly to: string;
  readonly domain: string;
  readonly record: { readonly name: string; readonly value: string };
  /** The name of the identity provider. */
  readonly provider: string;
  readonly organization: string;
  /** The end of the grace period; null if it is over. */
  readonly until: string | null;
}

export function domainMail({ to, domain, record, provider, organization, until }: MissingDomain): DomainMail {
  const subject =
    until === null
      ? `${provider} signs nobody in at ${domain} any more`
      : `${provider} signs people in at ${domain} until ${readable(until)}`;
  const follows =
    until === null
      ? `So people with an address of ${domain} do not sign in by it any more. A link by mail and passkeys let them in, unless the policy of ${organization} asks for the identity provider.`
      : `If it is not back by ${readable(until)}, people with an address of ${domain} do not sign in by it any more.`;
  return {
    to,
    subject,
    text: `The DNS of ${domain} does not have the record any more that proves that the domain is ${organization}'s, for the identity provider ${provider}. ${follows}

Write it into the DNS again, as TXT:

  ${record.name}
  ${record.value}

and have it looked for at once by identityProviders.test, or Test in the settings of ${organization} on Muster.
`,
  };
}
