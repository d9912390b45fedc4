/**
 * Forwards `/console`, if configured, to the service with its pages and files. They get the API's origin, so
 * that pages call only their own origin. Tokens and cookies are not forwarded, because the console service
 * does not need them.
 */
import { unavailable } from '@muster/registry';
import { type Service } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Pool } from 'undici';
import { passedOn } from './forward.ts';

interface Options {
  /** URL of the console service, such as `http://127.0.0.1:4106`. */
  readonly consoleUrl: string;
  readonly leave: Service['leave'];
}

const answerMillis = 10_000;
/**
 * A generous connect timeout: a page without one of its scripts stays blank, and a busy machine must not
 * cause that.
 */
const connectMillis = 5_000;

export function addConsoleForward(
  app: FastifyInstance,
  { consoleUrl, leave }: Options,
): { readonly close: () => Promise<void> } {
  const pool = new Pool(new URL(consoleUrl).origin, {
    connections: 32,
    connectTimeout: connectMillis,
    headersTimeout: answerMillis,
    bodyTimeout: answerMillis,
  });
  const forward = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    // Serving files needs no Postgres connection, so this request releases its request slot.
    leave(request);
    const { cookie: _, authorization: _token, ...headers } = passedOn(request.headers);
    const answer = await pool
      .request({
        ...{ path: request.url, method: 'GET' },
        headers: { ...headers, 'x-request-id': request.id, 'x-forwarded-for': request.ip },
      })
      .then(async ({ statusCode, headers: answered, body }) => ({
        ...{ statusCode, answered, body: Buffer.from(await body.arrayBuffer()) },
      }))
      .catch(() => {
        throw unavailable('console_away');
      });
    return reply.code(answer.statusCode).headers(passedOn(answer.answered)).send(answer.body);
  };
  for (const url of ['/console', '/console/*']) app.get(url, forward);
  return { close: () => pool.close() };
}
