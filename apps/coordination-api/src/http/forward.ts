/** Forwards requests to another service, and its responses to the caller, byte for byte. */
import { type ReasonOf, serviceUnavailable } from '@muster/contract';
import { inSpan, type Service, traceHeaders } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { once } from 'node:events';
import { type IncomingHttpHeaders } from 'node:http';
import { type Readable } from 'node:stream';
import { Pool } from 'undici';

export interface Forward {
  /** Answers a request with the service's response. Throws 503 if the service does not respond. */
  readonly forward: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
  /** Disables body parsing, and ends streams on shutdown. Use it on a separate Fastify scope. */
  readonly prepareScope: (scope: FastifyInstance) => void;
  readonly close: () => Promise<void>;
}

export interface ForwardOptions {
  /** URL of the service, such as `http://127.0.0.1:4101`. */
  readonly targetUrl: string;
  /** The name of the requests in traces. */
  readonly name: string;
  /** The reason of the error that is returned with status 503 when the target service cannot be reached. */
  readonly unavailableReason: ReasonOf<'unavailable'>;
  readonly leave: Service['releaseSlot'];
  /** Returns additional headers for the service. */
  readonly extraHeaders?: (request: FastifyRequest) => Record<string, string>;
}

/**
 * The timeout in milliseconds for a service's response. It is longer than the timeout of the service's own
 * calls to the API.
 */
const responseTimeoutMillis = 60_000;

/** Headers that belong to a single connection, or that are rewritten for the next one. */
const hopByHopHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'upgrade'],
  ...['transfer-encoding', 'content-length', 'expect', 'host'],
]);

export function withoutHopByHopHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !hopByHopHeaders.has(name)) passed[name] = value;
  }
  return passed;
}

interface ForwardedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The complete body, or a stream that is forwarded while it arrives. */
  readonly body: Buffer | Readable;
}

export function createForward({
  targetUrl: to,
  name,
  unavailableReason: away,
  leave,
  extraHeaders,
}: ForwardOptions): Forward {
  const streams = new Set<Readable>();
  const pool = new Pool(new URL(to).origin, {
    // The number of connections is unlimited, because calls pass the limits of concurrent requests before
    // they reach this pool.
    connections: null,
    connectTimeout: 1_000,
    headersTimeout: responseTimeoutMillis,
    bodyTimeout: responseTimeoutMillis,
  });

  async function ask(request: FastifyRequest, left: AbortSignal): Promise<ForwardedResponse> {
    const { method, url, headers, body } = request;
    try {
      const answer = await inSpan(
        () => ({ name: `${method} ${name}`, kind: 'client' }),
        () =>
          pool.request({
            ...{ path: url, method, signal: left },
            headers: {
              ...withoutHopByHopHeaders(headers),
              ...{ 'x-request-id': request.id, 'x-forwarded-for': request.ip },
              ...extraHeaders?.(request),
              ...traceHeaders(),
            },
            ...(Buffer.isBuffer(body) && { body }),
          }),
      );
      const isStream = answer.headers['content-type']?.includes('text/event-stream') === true;
      const answered = isStream ? answer.body : Buffer.from(await answer.body.arrayBuffer());
      return { status: answer.statusCode, headers: answer.headers, body: answered };
    } catch {
      throw serviceUnavailable(away);
    }
  }

  return {
    forward: async (request, reply) => {
      const left = new AbortController();
      // Tell the service when the caller disconnects, so that it treats an equal call as a retry.
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished) left.abort();
      });
      // The service calls the API while it answers, so this request must not occupy a request slot that those
      // calls need.
      leave(request);
      const { status, headers, body } = await ask(request, left.signal);
      // Fastify sets a content type for every buffer, even an empty one.
      const isEmpty = Buffer.isBuffer(body) && body.length === 0;
      void reply
        .code(status)
        .headers(withoutHopByHopHeaders(headers))
        .send(isEmpty ? undefined : body);
      if (Buffer.isBuffer(body)) return reply;
      streams.add(body);
      if (!reply.raw.closed) await once(reply.raw, 'close');
      streams.delete(body);
      return reply;
    },
    prepareScope: (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => {
        done(null, bytes);
      });
      // Streams last as long as their clients, so end them to avoid delaying the shutdown.
      scope.addHook('preClose', async () => {
        for (const body of streams) body.destroy();
      });
    },
    close: () => pool.close(),
  };
}
