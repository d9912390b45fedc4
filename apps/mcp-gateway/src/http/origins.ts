/**
 * Rejects requests from foreign web pages, and from host names that resolve to this machine (DNS rebinding).
 * Neither may use a token that is stored on this machine.
 */
import { forbidden } from '@muster/contract';
import { localhostAllowedHostnames, validateHostHeader } from '@modelcontextprotocol/server';
import cors from '@fastify/cors';
import { type FastifyInstance } from 'fastify';
import { type IncomingHttpHeaders } from 'node:http';
import { narrowingHeaders } from './narrowing.ts';

const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);

export interface OriginRules {
  /** The address that the server listens on. */
  readonly host: string;
  readonly allowedOrigins: readonly string[];
}

/** Headers that a page may send, and headers that it may read. */
const allowedHeaders = [
  ...['authorization', 'content-type', 'accept', 'idempotency-key', 'x-request-id', 'last-event-id'],
  ...['mcp-protocol-version', 'mcp-method', 'mcp-name', ...narrowingHeaders],
];
const exposedHeaders = ['x-request-id', 'retry-after', 'www-authenticate', 'mcp-protocol-version'];
/** Seconds for which a browser caches a preflight response. No browser caches it for more than two hours. */
const preflightCacheSeconds = 7_200;

const createOriginCheck = ({ host, allowedOrigins }: OriginRules): ((origin: string) => boolean) => {
  const hostnames = localhostAllowedHostnames();
  const allowed = new Set(allowedOrigins.map((origin) => new URL(origin).origin));
  return (origin) =>
    allowed.has(origin) ||
    (loopbackHosts.has(host) && URL.canParse(origin) && hostnames.includes(new URL(origin).hostname));
};

/** Allows pages of these origins to call the gateway and read its responses. They still need a token. */
export function allowOrigins(app: FastifyInstance, rules: OriginRules): void {
  const isOurs = createOriginCheck(rules);
  void app.register(cors, {
    origin: (origin, answer) => {
      answer(null, origin !== undefined && isOurs(origin));
    },
    methods: ['POST'],
    ...{ allowedHeaders, exposedHeaders, maxAge: preflightCacheSeconds },
  });
}

/**
 * Creates a check that throws 403 for a foreign host or origin. Programs send no Origin header; browsers
 * always do.
 */
export function originGuard(rules: OriginRules): (headers: IncomingHttpHeaders) => void {
  const isLoopback = loopbackHosts.has(rules.host);
  const hostnames = localhostAllowedHostnames();
  const isOurs = createOriginCheck(rules);
  return (headers) => {
    if (isLoopback && !validateHostHeader(headers.host, hostnames).ok) throw forbidden('foreign_host');
    if (headers.origin !== undefined && !isOurs(headers.origin)) throw forbidden('foreign_origin');
  };
}
