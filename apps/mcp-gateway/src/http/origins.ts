/** Pages of strangers, and names of strangers that point at this machine: neither may use a token that is kept here. */
import { forbidden } from '@muster/registry';
import { localhostAllowedHostnames, validateHostHeader } from '@modelcontextprotocol/server';
import cors from '@fastify/cors';
import { type FastifyInstance } from 'fastify';
import { type IncomingHttpHeaders } from 'node:http';
import { narrowingHeaders } from './narrowing.ts';

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);

export interface OriginRules {
  /** The address that is listened on. */
  readonly host: string;
  readonly allowedOrigins: readonly string[];
}

/** What a page may send and read besides the body. */
const allowedHeaders = [
  ...['authorization', 'content-type', 'accept', 'idempotency-key', 'x-request-id', 'last-event-id'],
  ...['mcp-protocol-version', 'mcp-method', 'mcp-name', ...narrowingHeaders],
];
const exposedHeaders = ['x-request-id', 'retry-after', 'www-authenticate', 'mcp-protocol-version'];
/** A browser asks so seldom whether it may, in seconds; more than two hours none of them keeps it. */
const maxAge = 7_200;

const isOursBy = ({ host, allowedOrigins }: OriginRules): ((origin: string) => boolean) => {
  const hostnames = localhostAllowedHostnames();
  const allowed = new Set(allowedOrigins.map((origin) => new URL(origin).origin));
  return (origin) =>
    allowed.has(origin) ||
    (loopback.has(host) && URL.canParse(origin) && hostnames.includes(new URL(origin).hostname));
};

/** Has browsers let pages of these origins call, and read what is answered. A token is needed all the same. */
export function allowOrigins(app: FastifyInstance, rules: OriginRules): void {
  const isOurs = isOursBy(rules);
  void app.register(cors, {
    origin: (origin, answer) => {
      answer(null, origin !== undefined && isOurs(origin));
    },
    methods: ['POST'],
    ...{ allowedHeaders, exposedHeaders, maxAge },
  });
}

/** Throws 403. Programs send no Origin; a browser always does. */
export function originGuard(rules: OriginRules): (headers: IncomingHttpHeaders) => void {
  const isLoopback = loopback.has(rules.host);
  const hostnames = localhostAllowedHostnames();
  const isOurs = isOursBy(rules);
  return (headers) => {
    if (isLoopback && !validateHostHeader(headers.host, hostnames).ok) throw forbidden('foreign_host');
    if (headers.origin !== undefined && !isOurs(headers.origin)) throw forbidden('foreign_origin');
  };
}
