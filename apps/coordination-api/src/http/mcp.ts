/**
 * `/api/mcp`, where there is a gateway: each request goes on to it as it came, byte for byte, and its answer comes back
 * so. Everything that MCP asks of a request, the gateway checks; but nothing is read of a body whose token is no good.
 */
import { bulkBodyLimit, unavailable } from '@muster/registry';
import { inSpan, type Service, traceHeaders } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { once } from 'node:events';
import { type IncomingHttpHeaders } from 'node:http';
import { type Readable } from 'node:stream';
import { Pool } from 'undici';
import { type Authenticate } from './authenticate.ts';
import { createShares, forwardedAtOnce } from './shares.ts';

export interface McpForward {
  readonly close: () => Promise<void>;
}

interface Options {
  /** Such as `http://127.0.0.1:4101`. */
  readonly gatewayUrl: string;
  readonly authenticate: Authenticate;
  readonly leave: Service['leave'];
}

const path = '/api/mcp';
/** What the gateway answers by saying that it takes POST alone. */
const otherMethods = ['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'];
const otherBodyLimit = 1_024;
/** Past what the gateway waits for us. */
const answerMillis = 60_000;

/** Of the connection that they came by, or written anew for the next. */
const ofConnection: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'upgrade'],
  ...['transfer-encoding', 'content-length', 'expect', 'host'],
]);

function passedOn(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !ofConnection.has(name)) passed[name] = value;
  }
  return passed;
}

interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** A stream is passed on as it comes. */
  readonly body: Buffer | Readable;
}

export function addMcpForward(
  app: FastifyInstance,
  { gatewayUrl, authenticate, leave }: Options,
): McpForward {
  const shares = createShares(forwardedAtOnce, 'go through MCP', 'too_many_forwarded');
  const pool = new Pool(new URL(gatewayUrl).origin, {
    // As many as there are calls: how many there may be, the shares say.
    connections: null,
    connectTimeout: 1_000,
    headersTimeout: answerMillis,
    bodyTimeout: answerMillis,
  });

  async function ask(request: FastifyRequest, left: AbortSignal): Promise<Answered> {
    const { method, url, headers, body } = request;
    try {
      const answer = await inSpan(
        () => ({ name: `${method} ${path}`, kind: 'client' }),
        () =>
          pool.request({
            ...{ path: url, method, signal: left },
            headers: {
              ...passedOn(headers),
              ...{ 'x-request-id': request.id, 'x-forwarded-for': request.ip },
              ...traceHeaders(),
            },
            ...(Buffer.isBuffer(body) && { body }),
          }),
      );
      const isStream = answer.headers['content-type']?.includes('text/event-stream') === true;
      const answered = isStream ? answer.body : Buffer.from(await answer.body.arrayBuffer());
      return { status: answer.statusCode, headers: answer.headers, body: answered };
    } catch {
      throw unavailable('gateway_away');
    }
  }

  // In a scope of its own, since here alone bodies stay as they came.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => {
      done(null, bytes);
    });
    const streams = new Set<Readable>();
    // They last as long as anybody listens, and hold up no stop.
    scope.addHook('preClose', async () => {
      for (const body of streams) body.destroy();
    });
    const forward = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const left = new AbortController();
      // The gateway has to know that the caller left: an equal call that comes again is then the same one.
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished) left.abort();
      });
      // The gateway calls the API in turn: a request that waits for it takes no place from those calls.
      leave(request);
      const { status, headers, body } = await ask(request, left.signal);
      void reply.code(status).headers(passedOn(headers)).send(body);
      if (Buffer.isBuffer(body)) return reply;
      streams.add(body);
      if (!reply.raw.closed) await once(reply.raw, 'close');
      streams.delete(body);
      return reply;
    };
    const route = {
      url: path,
      onRequest: async (request: FastifyRequest) => {
        request.caller = await authenticate(request);
      },
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        if (request.caller === null) throw new Error(`${path} was reached without authentication`);
        const done = shares.enter(request.caller.identity);
        return forward(request, reply).finally(done);
      },
    };
    scope.route({ ...route, method: 'POST', bodyLimit: bulkBodyLimit });
    scope.route({ ...route, method: otherMethods, bodyLimit: otherBodyLimit });
  });
  return { close: () => pool.close() };
}
