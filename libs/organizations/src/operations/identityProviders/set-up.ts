/** What the installation says of identity providers. */
import { type NamedNetwork, refusedUrl, type Seals } from '@muster/outbound';
import { badRequest } from '@muster/registry';

export interface IdentityProvidersSetUp {
  readonly seals: Seals;
  /** Where people reach Muster, without a slash at the end. */
  readonly baseUrl: string;
  /** Networks besides the public ones in which issuers may be. */
  readonly networks: readonly NamedNetwork[];
}

/** Where issuers send people back to: of each organization its own, so that no issuer's answer fits another one's question. */
export const redirectPath = (orgId: string): string => `/auth/issuer/${orgId}`;

export const redirectUrlOf = ({ baseUrl }: Pick<IdentityProvidersSetUp, 'baseUrl'>, orgId: string): string =>
  baseUrl + redirectPath(orgId);

/** 400 where the issuer is none that may be asked. */
export function requireIssuer({ networks }: IdentityProvidersSetUp, issuer: string): void {
  const message = refusedUrl(issuer, networks);
  if (message !== null) throw badRequest('Nothing is asked at this address.', [{ path: 'issuer', message }]);
}
