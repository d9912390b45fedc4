/** The installation's configuration of identity providers. */
import { type AllowedNetwork, urlRefusalReason, type SecretCipher } from '@muster/outbound';
import { badRequest } from '@muster/contract';

export interface IdentityProvidersConfig {
  readonly seals: SecretCipher;
  /** The public URL of Muster, without a slash at the end. */
  readonly baseUrl: string;
  /** Networks other than the public ones that may contain issuers. */
  readonly networks: readonly AllowedNetwork[];
}

/**
 * Returns the path of the redirect URL. Each organization has its own, so that an issuer's answer cannot be
 * used for a sign-in at another organization.
 */
export const redirectPath = (orgId: string): string => `/auth/issuer/${orgId}`;

export const redirectUrlOf = ({ baseUrl }: Pick<IdentityProvidersConfig, 'baseUrl'>, orgId: string): string =>
  baseUrl + redirectPath(orgId);

/** Throws 400 if requests to the issuer are not allowed. */
export function requireAllowedIssuer({ networks }: IdentityProvidersConfig, issuer: string): void {
  const message = urlRefusalReason(issuer, networks);
  if (message !== null)
    throw badRequest('This address cannot be used as an issuer.', [{ path: 'issuer', message }]);
}
