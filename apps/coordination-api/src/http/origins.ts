/**
 * Configures the origins whose pages may call this API from a browser. They still need a token; cookies are
 * not used.
 */
import cors from '@fastify/cors';
import { type FastifyInstance } from 'fastify';

/** Response headers that a page may read. */
const exposedHeaders = [
  'x-request-id',
  'idempotency-replayed',
  'muster-position',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
];
const allowedHeaders = [
  ...['authorization', 'content-type', 'idempotency-key', 'last-event-id', 'muster-position', 'x-request-id'],
  // Headers of MCP clients.
  ...['mcp-protocol-version', 'mcp-method', 'mcp-name'],
];
/** Seconds for which a browser caches a preflight response. No browser caches it for more than two hours. */
const maxAge = 7200;

export function allowCorsOrigins(app: FastifyInstance, origins: '*' | readonly string[] | undefined): void {
  if (origins === undefined) return;
  void app.register(cors, {
    origin: origins === '*' ? '*' : [...origins],
    methods: ['GET', 'POST'],
    allowedHeaders,
    exposedHeaders,
    maxAge,
  });
}
