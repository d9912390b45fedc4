/**
 * `/console`, where there is one: its pages and files come from the service that has them, under the origin of the API.
 * So a page calls its own origin alone. It is asked with no token and no cookie: it has no use for them.
 */
import { unavailable } from '@muster/registry';
import { type Service } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Pool } from 'undici';
import { passedOn } from './forward.ts';

interface Options {
  /** Such as `http://127.0.0.1:4106`. */
  readonly consoleUrl: string;
  readonly leave: Service['leave'];
}

const answerMillis = 10_000;
/** A page without one of its scripts shows nothing: a busy machine is no reason for that. */
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
    // Files are no calls: they take no place from those that Postgres answers.
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
