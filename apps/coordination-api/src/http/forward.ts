/** Requests that another service answers: each goes on to it as it came, byte for byte, and its answer comes back so. */
import { type ReasonOf, unavailable } from '@muster/registry';
import { inSpan, type Service, traceHeaders } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { once } from 'node:events';
import { type IncomingHttpHeaders } from 'node:http';
import { type Readable } from 'node:stream';
import { Pool } from 'undici';

export interface Forward {
  /** Answers a request with what the service says. Throws 503 where it says nothing. */
  readonly forward: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
  /** Has bodies stay as they came, and streams end with the stop; for a scope of its own. */
  readonly prepare: (scope: FastifyInstance) => void;
  readonly close: () => Promise<void>;
}

export interface ForwardOptions {
  /** Such as `http://127.0.0.1:4101`. */
  readonly to: string;
  /** As spans name it. */
  readonly name: string;
  /** The reason of the 503. */
  readonly away: ReasonOf<'unavailable'>;
  readonly leave: Service['leave'];
  /** What it is told besides of the request that came. */
  readonly told?: (request: FastifyRequest) => Record<string, string>;
}

/** Past what a service waits for us. */
const answerMillis = 60_000;

/** Of the connection that they came by, or written anew for the next. */
const ofConnection: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'upgrade'],
  ...['transfer-encoding', 'content-length', 'expect', 'host'],
]);

export function passedOn(headers: IncomingHttpHeaders): Record<string, string | string[]> {
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

export function createForward({ to, name, away, leave, told }: ForwardOptions): Forward {
  const streams = new Set<Readable>();
  const pool = new Pool(new URL(to).origin, {
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
        () => ({ name: `${method} ${name}`, kind: 'client' }),
        () =>
          pool.request({
            ...{ path: url, method, signal: left },
            headers: {
              ...passedOn(headers),
              ...{ 'x-request-id': request.id, 'x-forwarded-for': request.ip },
              ...told?.(request),
              ...traceHeaders(),
            },
            ...(Buffer.isBuffer(body) && { body }),
          }),
      );
      const isStream = answer.headers['content-type']?.includes('text/event-stream') === true;
      const answered = isStream ? answer.body : Buffer.from(await answer.body.arrayBuffer());
      return { status: answer.statusCode, headers: answer.headers, body: answered };
    } catch {
      throw unavailable(away);
    }
  }

  return {
    forward: async (request, reply) => {
      const left = new AbortController();
      // The service has to know that the caller left: an equal call that comes again is then the same one.
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished) left.abort();
      });
      // The service calls the API in turn: a request that waits for it takes no place from those calls.
      leave(request);
      const { status, headers, body } = await ask(request, left.signal);
      // Fastify names a content type for every buffer, also for an empty one.
      const isEmpty = Buffer.isBuffer(body) && body.length === 0;
      void reply
        .code(status)
        .headers(passedOn(headers))
        .send(isEmpty ? undefined : body);
      if (Buffer.isBuffer(body)) return reply;
      streams.add(body);
      if (!reply.raw.closed) await once(reply.raw, 'close');
      streams.delete(body);
      return reply;
    },
    prepare: (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => {
        done(null, bytes);
      });
      // They last as long as anybody listens, and hold up no stop.
      scope.addHook('preClose', async () => {
        for (const body of streams) body.destroy();
      });
    },
    close: () => pool.close(),
  };
}
