/** A Fastify app as each service needs it: errors as JSON, bodies checked, health, metrics, a cap, a graceful stop. */
import { ApiError, unavailable } from '@muster/registry';
import {
  fastify,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { type Logger } from 'pino';
import { noteError } from './error-notes.ts';
import { addHealth, type Check } from './health.ts';
import { isJsonContentType, parseJsonBody } from './json-body.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { requestIdOf } from './request-id.ts';
import { addRequestSpans } from './tracing.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Among those answered at once; null: not, or not any more. */
    place: 'waiting' | 'working' | null;
    /** What the body had, however it was sent; 0 without one. */
    bodyBytes: number;
  }
  interface FastifyContextConfig {
    /** There are as many places again for such requests alone. */
    isUrgent?: boolean;
  }
}

export interface ServiceOptions {
  readonly name: string;
  readonly logger: Logger;
  readonly checks: readonly Check[];
  /** Requests answered at once; more get 503 with Retry-After. (Uncapped, 2 × load cut goodput from 390/s to 66/s.) */
  readonly mostInFlight: number;
  /** Whose X-Forwarded-For is believed: addresses or networks, or how many hops of it; false: nobody's. */
  readonly trustProxy: string[] | number | false;
  /** Any error → what the caller is told. */
  readonly toApiError: (error: unknown) => ApiError;
}

export interface Service {
  readonly app: FastifyInstance;
  readonly metrics: Metrics;
  /** Readiness off, and connections are told to close with their next answer; everything is still answered. */
  drain(): void;
  /** Waits, and meanwhile the request takes no place among those that are being served. */
  readonly aside: (request: FastifyRequest, wait: () => Promise<void>) => Promise<void>;
  /** Takes no more connections, finishes what runs. */
  stop(): Promise<void>;
}

const serverName = /^(\/livez|\/readyz|\/metrics)$/;

/** Fastify's own refusals in the contract's words. */
function ofFramework(error: Partial<FastifyError>): ApiError | undefined {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError('payload_too_large', 'The body is larger than this operation takes.', {
        reason: 'body_too_large',
        retryable: false,
      });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_CONTENT_TYPE':
      return unsupportedMediaType();
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_BAD_URL':
      return new ApiError('bad_request', 'The request is malformed.', {
        reason: 'malformed_request',
        retryable: false,
      });
    default:
      return undefined;
  }
}

const unsupportedMediaType = (): ApiError =>
  new ApiError('unsupported_media_type', 'Send application/json in UTF-8.', {
    reason: 'content_type',
    retryable: false,
  });

export function sendError(reply: FastifyReply, error: ApiError, requestId: string): FastifyReply {
  reply.request.error = error;
  // Where the framework refuses a request itself, no hook has set it.
  reply.header('x-request-id', requestId);
  if (error.code === 'unauthorized') reply.header('www-authenticate', 'Bearer');
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter));
  return reply
    .code(error.status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(error.toBody(requestId)));
}

/** Answers what is not even HTTP, by hand: there is no request yet. */
function refuseRaw(
  socket: { writable: boolean; end(text: string): unknown; destroy(): unknown },
  error: { code?: string },
): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const refusal = new ApiError(
    'bad_request',
    tooLarge ? 'The headers are too large.' : 'The request is malformed.',
    {
      reason: tooLarge ? 'headers_too_large' : 'malformed_request',
      retryable: false,
    },
  );
  const requestId = requestIdOf({ headers: {} });
  const body = JSON.stringify(refusal.toBody(requestId));
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nX-Request-Id: ${requestId}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Fastify believes nobody where it is given a number, since it cannot know that there are proxies; operators do. */
const trustOf = (trusted: ServiceOptions['trustProxy']) =>
  typeof trusted === 'number' ? (_address: string, hop: number) => hop < trusted : trusted;

/** Params are the pipeline's to check: loading the compilers that Fastify has for them takes a tenth of the start. */
const noSchemas = () => () => {
  throw new Error('a route has a schema of Fastify, and nothing compiles it');
};

export function createService(options: ServiceOptions): Service {
  const { logger } = options;
  const metrics = createMetrics(options.name);
  let inFlight = 0;
  let draining = false;

  const answerError = (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const known = ofFramework(error as Partial<FastifyError>) ?? options.toApiError(error);
    if (known.code === 'internal')
      logger.error({ err: error, requestId: request.id, path: request.routeOptions.url }, 'fault');
    void sendError(reply, known, request.id);
  };

  const app = fastify({
    logger: false,
    genReqId: requestIdOf,
    requestIdHeader: false,
    requestTimeout: 15_000,
    connectionTimeout: 30_000,
    bodyLimit: 256 * 1024,
    trustProxy: trustOf(options.trustProxy),
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    clientErrorHandler: (error, socket) => {
      refuseRaw(socket, error);
    },
    frameworkErrors: answerError,
    // Drains by itself: keep-alive connections are told to close with their next answer.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  });

  app.decorateRequest('place', null).decorateRequest('operation', null).decorateRequest('error', null);
  app.decorateRequest('bodyBytes', 0);
  const leave = (request: FastifyRequest): void => {
    if (request.place === null) return;
    request.place = null;
    inFlight -= 1;
  };

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      if (!isJsonContentType(request.headers['content-type'] ?? '')) throw unsupportedMediaType();
      request.bodyBytes = bytes.length;
      done(null, parseJsonBody(bytes as Buffer));
    } catch (error) {
      done(error as Error, undefined);
    }
  });

  addRequestSpans(app, (request) => !serverName.test(request.url));
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    if (draining) reply.header('connection', 'close');
    if (serverName.test(request.url)) {
      done();
      return;
    }
    const most = options.mostInFlight * (request.routeOptions.config.isUrgent === true ? 2 : 1);
    if (inFlight >= most) {
      done(unavailable('overload', 'Too many requests at once; try again.'));
      return;
    }
    inFlight += 1;
    request.place = 'waiting';
    reply.raw.once('close', () => {
      // Who goes away before the work began leaves a place; the work itself goes on without its caller, and keeps it.
      if (request.place === 'waiting') leave(request);
    });
    done();
  });
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.place === 'waiting') request.place = 'working';
    done();
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    leave(request);
    if (reply.statusCode >= 400 && !serverName.test(request.url))
      noteError(request, reply, { metrics, logger });
    done();
  });

  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) =>
    sendError(
      reply,
      new ApiError('not_found', `Nothing answers ${request.method} here.`, {
        reason: 'no_such_path',
        retryable: false,
      }),
      request.id,
    ),
  );

  const readiness = addHealth(app, options.checks, () => draining);
  metrics.figures(
    'muster_dependency_up',
    'What the service stands on: 1 is there, 0 is away',
    ['dependency'],
    async () =>
      Object.entries((await readiness()).checks).map(([dependency, state]) => ({
        labels: { dependency },
        value: state === 'ok' ? 1 : 0,
      })),
  );
  app.get('/metrics', async (_request, reply) => {
    metrics.inFlight.set(inFlight);
    return reply.header('content-type', metrics.registry.contentType).send(await metrics.registry.metrics());
  });

  return {
    app,
    metrics,
    drain: () => {
      draining = true;
    },
    aside: async (request, wait) => {
      leave(request);
      await wait();
      inFlight += 1;
      request.place = 'working';
    },
    stop: async () => {
      draining = true;
      await app.close();
    },
  };
}
