/**
 * The key by which mcp-gateway proves to coordination-api that a call comes through it. Tokens that were granted for the
 * MCP address alone (RFC 8707) are accepted only together with this key.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import { type IncomingHttpHeaders } from 'node:http';

export const gatewayKeyHeader = 'muster-gateway-key';

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer');

/** Returns a check that compares the header of a request with each accepted key in constant time. */
export function createGatewayCheck(keys: readonly string[]): (headers: IncomingHttpHeaders) => boolean {
  const accepted = keys.map(digestOf);
  return (headers) => {
    const given = headers[gatewayKeyHeader];
    if (typeof given !== 'string') return false;
    const digest = digestOf(given);
    return accepted.map((key) => timingSafeEqual(key, digest)).includes(true);
  };
}
