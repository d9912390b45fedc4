/**
 * Forwards `/console`, if configured, to the service with its pages and files. They get the API's origin, so
 * that pages call only their own origin. Tokens and cookies are not forwarded, because the console service
 * does not need them.
 */
import { serviceUnavailable } from '@muster/contract';
import { type Service } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Pool } from 'undici';
import { withoutHopByHopHeaders } from './forward.ts';

interface ConsoleForwardOptions {
  /** URL of the console service, such as `http://127.0.0.1:4106`. */
  readonly consoleUrl: string;
  readonly releaseSlot: Service['releaseSlot'];
}

const responseTimeoutMillis = 10_000;
/**
 * A generous connect timeout: a page without one of its scripts stays blank, and a busy machine must not
 * cause that.
 */
const connectTimeoutMillis = 5_000;

export function addConsoleForward(
  app: FastifyInstance,
  { consoleUrl, releaseSlot }: ConsoleForwardOptions,
): { readonly close: () => Promise<void> } {
  const pool = new Pool(new URL(consoleUrl).origin, {
    connections: 32,
    connectTimeout: connectTimeoutMillis,
    headersTimeout: responseTimeoutMillis,
    bodyTimeout: responseTimeoutMillis,
  });
  const forward = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    // Serving files needs no Postgres connection, so this request releases its request slot.
    releaseSlot(request);
    const { cookie: _, authorization: _token, ...headers } = withoutHopByHopHeaders(request.headers);
    const answer = await pool
      .request({
        ...{ path: request.url, method: 'GET' },
        headers: { ...headers, 'x-request-id': request.id, 'x-forwarded-for': request.ip },
      })
      .then(async ({ statusCode, headers: answered, body }) => ({
        ...{ statusCode, answered, body: Buffer.from(await body.arrayBuffer()) },
      }))
      .catch(() => {
        throw serviceUnavailable('console_away');
      });
    return reply.code(answer.statusCode).headers(withoutHopByHopHeaders(answer.answered)).send(answer.body);
  };
  for (const url of ['/console', '/console/*']) app.get(url, forward);
  return { close: () => pool.close() };
}
