/** The text of the e-mail about a missing DNS record. */
import { formatReadableTime } from './readable.ts';

/** The grace period in days in which a domain without its record stays valid. */
export const domainGraceDays = 7;

export interface DomainMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface MissingDomainRecord {
  readonly to: string;
  readonly domain: string;
  readonly record: { readonly name: string; readonly value: string };
  /** The name of the identity provider. */
  readonly provider: string;
  readonly organization: string;
  /** The end of the grace period; null if it is over. */
  readonly until: string | null;
}

export function renderDomainMail({
  to,
  domain,
  record,
  provider,
  organization,
  until,
}: MissingDomainRecord): DomainMail {
  const subject =
    until === null
      ? `Sign-in with ${provider} no longer works for ${domain}`
      : `Sign-in with ${provider} stops working for ${domain} on ${formatReadableTime(until)}`;
  const follows =
    until === null
      ? `People with an address of ${domain} can no longer sign in through the identity provider. They can use a link by e-mail or a passkey, unless the policy of ${organization} requires the identity provider.`
      : `If the DNS record is not restored by ${formatReadableTime(until)}, people with an address of ${domain} can no longer sign in through the identity provider.`;
  return {
    to,
    subject,
    text: `The DNS record that proves that ${domain} belongs to ${organization} is missing. The identity provider ${provider} needs it. ${follows}

Add this TXT record to the DNS again:

  ${record.name}
  ${record.value}

Then check it: choose Test in the settings of ${organization} on Muster, or call identityProviders.test.
`,
  };
}
