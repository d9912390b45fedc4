/**
 * The proof that a domain belongs to an organization: a TXT record, which only the domain's administrator can
 * write.
 */
import { createHmac } from 'node:crypto';

const txtRecordPrefix = 'muster-domain-proof=';

/**
 * Computes the proof. It is the same for all providers of the organization and after a domain is added again.
 * Other organizations have other proofs.
 */
export const computeDomainProof = (organizationKey: Buffer, domain: string): string =>
  createHmac('sha256', organizationKey).update(`domain ${domain}`).digest('base64url');

export const toDomainTxtRecord = (domain: string, proof: string): { name: string; value: string } => ({
  name: `_muster.${domain}`,
  value: txtRecordPrefix + proof,
});
