/** The relying-party ID of passkeys, which is a host name. */
import { isIP } from 'node:net';

/** Returns the host of BASE_URL; undefined for an IP address, for which browsers create no passkeys. */
export function relyingPartyIdOf(baseUrl: string): string | undefined {
  const { hostname } = new URL(baseUrl);
  return isIP(hostname.replaceAll(/[[\]]/g, '')) === 0 ? hostname : undefined;
}
