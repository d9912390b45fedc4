/** Pages of strangers, and names of strangers that point at this machine: neither may use a token that is kept here. */
import { forbidden } from '@muster/registry';
import { localhostAllowedHostnames, validateHostHeader } from '@modelcontextprotocol/server';
import { type IncomingHttpHeaders } from 'node:http';

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);

export interface OriginRules {
  /** The address that is listened on. */
  readonly host: string;
  readonly allowedOrigins: readonly string[];
}

/** Throws 403. Programs send no Origin; a browser always does. */
export function originGuard({ host, allowedOrigins }: OriginRules): (headers: IncomingHttpHeaders) => void {
  const isLoopback = loopback.has(host);
  const hostnames = localhostAllowedHostnames();
  const allowed = new Set(allowedOrigins.map((origin) => new URL(origin).origin));
  const isOurs = (origin: string): boolean =>
    allowed.has(origin) ||
    (isLoopback && URL.canParse(origin) && hostnames.includes(new URL(origin).hostname));
  return (headers) => {
    if (isLoopback && !validateHostHeader(headers.host, hostnames).ok) throw forbidden('foreign_host');
    if (headers.origin !== undefined && !isOurs(headers.origin)) throw forbidden('foreign_origin');
  };
}
