/** What proves that a domain is an organization's: a TXT record that only who has the domain can write. */
import { createHmac } from 'node:crypto';

const prefix = 'muster-domain-proof=';

/** The same for all providers of the organization, and for a domain that comes back; no other organization has it. */
export const domainProof = (organizationKey: Buffer, domain: string): string =>
  createHmac('sha256', organizationKey).update(`domain ${domain}`).digest('base64url');

export const domainRecord = (domain: string, proof: string): { name: string; value: string } => ({
  name: `_muster.${domain}`,
  value: prefix + proof,
});
