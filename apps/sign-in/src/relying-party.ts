/** For which name passkeys are. */
import { isIP } from 'node:net';

/** The host of BASE_URL; undefined where that is an address of numbers, for which no browser makes passkeys. */
export function relyingPartyOf(baseUrl: string): string | undefined {
  const { hostname } = new URL(baseUrl);
  return isIP(hostname.replaceAll(/[[\]]/g, '')) === 0 ? hostname : undefined;
}
