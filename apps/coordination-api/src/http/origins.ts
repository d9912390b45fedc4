/** Which pages of other origins a browser lets call this API. A token is needed all the same; cookies are not used. */
import cors from '@fastify/cors';
import { type FastifyInstance } from 'fastify';

/** What a page may read of an answer besides its body. */
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
  // Of clients of MCP.
  ...['mcp-protocol-version', 'mcp-method', 'mcp-name'],
];
/** A browser asks so seldom whether it may, in seconds; more than two hours none of them keeps it. */
const maxAge = 7200;

export function allowOrigins(app: FastifyInstance, origins: '*' | readonly string[] | undefined): void {
  if (origins === undefined) return;
  void app.register(cors, {
    origin: origins === '*' ? '*' : [...origins],
    methods: ['GET', 'POST'],
    allowedHeaders,
    exposedHeaders,
    maxAge,
  });
}
