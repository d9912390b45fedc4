/** A Fastify app as each service needs it: errors as JSON, bodies checked, health, metrics, a cap, a graceful stop. */
import { once } from 'node:events';
import { type AddressInfo, isIPv6, type Socket } from 'node:net';
import {
  type ApiError,
  malformed,
  missing,
  tooLarge,
  unavailable,
  unsupportedMediaType,
} from '@muster/registry';
import {
  fastify,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { type Logger } from 'pino';
import { createBodies, hasBody } from './bodies.ts';
import { noteArrivals } from './elapsed.ts';
import { noteError } from './error-notes.ts';
import { addHealth, type Check, refuseFaultsForGood } from './health.ts';
import { isJsonContentType, type MostValues, parseJsonBody } from './json-body.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createMetricsServer } from './metrics-server.ts';
import { type RenderedPage } from './page.ts';
import { Places } from './places.ts';
import { readRest } from './rest-of-body.ts';
import { requestIdOf } from './request-id.ts';
import { addRequestSpans } from './tracing.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Among those answered at once, for the first time or after it waited for something; null: not, or not any more. */
    place: 'waiting' | 'working' | 'returned' | null;
    /** What the body had, however it was sent; 0 without one. */
    bodyBytes: number;
  }
  interface FastifyContextConfig {
    /** There are as many places again for such requests alone. */
    isUrgent?: boolean;
    /** What it refuses for want of a token it refuses as clients of MCP read it. */
    isForMcp?: boolean;
  }
}

export interface ServiceOptions {
  readonly name: string;
  readonly logger: Logger;
  readonly checks: readonly Check[];
  /** Requests answered at once; more get 503 with Retry-After. (Uncapped, 2 × load cut goodput from 390/s to 66/s.) */
  readonly mostInFlight: number;
  /** 500,000 in any body unless told. */
  readonly mostValues?: MostValues;
  /** The proxies whose X-Forwarded-For is believed: addresses or networks, or a number of hops; false: none. */
  readonly trustProxy: string[] | number | false;
  /** Any error → what the caller is told. */
  readonly toApiError: (error: unknown) => ApiError;
  /** What a browser is shown at a path that is not there; undefined for a request that gets the error as JSON. */
  readonly missingPage?: (request: FastifyRequest) => RenderedPage | undefined;
}

export interface Service {
  readonly app: FastifyInstance;
  readonly metrics: Metrics;
  /**
   * Listens for callers, and on a port of its own for monitoring. Throws a ConfigError where what the service stands on is
   * there and will never do.
   */
  listen(at: {
    readonly HOST: string;
    readonly PORT: number;
    readonly METRICS_PORT: number;
  }): Promise<{ readonly address: string; readonly metricsAddress: string }>;
  /** Readiness off, and connections are told to close with their next answer; everything is still answered. */
  drain(): void;
  /**
   * Waits, and meanwhile the request takes no place among those that are being served; it has one again when it is its
   * turn. The signal says that the caller has left.
   */
  readonly aside: (request: FastifyRequest, wait: (left: AbortSignal) => Promise<void>) => Promise<void>;
  /** What is still to be done for the request costs nothing here: it takes no place any more. */
  readonly leave: (request: FastifyRequest) => void;
  /** Takes no more connections, finishes what runs. */
  stop(): Promise<void>;
}

const isHealth = ({ url }: FastifyRequest): boolean => url === '/livez' || url === '/readyz';

/** Fastify's own refusals in the contract's words. */
function ofFramework(error: Partial<FastifyError>): ApiError | undefined {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooLarge('body_too_large');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_CONTENT_TYPE':
      return unsupportedMediaType();
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_BAD_URL':
      return malformed('malformed_request', 'The request is malformed.');
    default:
      return undefined;
  }
}

/** The caller left before its body was complete: no fault of ours. The answer reaches no caller. */
const endedInTheMiddle = (): ApiError =>
  malformed('malformed_request', 'The body ended before its stated length.');

/**
 * Ends at the stop the connections on which nothing was ever sent, such as those that browsers open ahead: Node takes them
 * for busy until their headers are late.
 */
function closeUnused(app: FastifyInstance): void {
  const connections = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  app.addHook('preClose', async () => {
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  });
}

/**
 * What a 401 asks for. Clients of MCP read more of it than its scheme (RFC 6750, section 3): whether a token was sent that
 * is no good.
 */
function challengeOf({ headers, routeOptions }: FastifyRequest, { message }: ApiError): string {
  if (routeOptions.config.isForMcp !== true) return 'Bearer';
  const realm = 'Bearer realm="Muster"';
  return headers.authorization === undefined
    ? realm
    : `${realm}, error="invalid_token", error_description="${message}"`;
}

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' };

export function sendError(
  reply: FastifyReply,
  error: ApiError,
  requestId: string,
  page: RenderedPage = { headers: jsonHeaders, body: JSON.stringify(error.toBody(requestId)) },
): FastifyReply {
  reply.request.error = error;
  // Where the framework refuses a request itself, no hook has set it.
  reply.header('x-request-id', requestId);
  if (error.code === 'unauthorized') reply.header('www-authenticate', challengeOf(reply.request, error));
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter));
  return reply
    .code(error.status)
    .headers({ ...page.headers })
    .send(page.body);
}

const rawRefusals: Readonly<Record<string, () => ApiError>> = {
  HPE_HEADER_OVERFLOW: () => malformed('headers_too_large'),
  ERR_HTTP_REQUEST_TIMEOUT: () => malformed('request_too_slow'),
};

/** Answers what is not even HTTP, by hand: there is no request yet. */
function refuseRaw(
  socket: { writable: boolean; end(text: string): unknown; destroy(): unknown },
  error: { code?: string },
): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const refusal =
    rawRefusals[error.code ?? '']?.() ?? malformed('malformed_request', 'The request is malformed.');
  const requestId = requestIdOf({ headers: {} });
  const body = JSON.stringify(refusal.toBody(requestId));
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nX-Request-Id: ${requestId}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Given a number, Fastify believes no proxy, since it cannot know that there are any; operators know. */
const trustOf = (trusted: ServiceOptions['trustProxy']) =>
  typeof trusted === 'number' ? (_address: string, hop: number) => hop < trusted : trusted;

/** Params are the pipeline's to check: loading the compilers that Fastify has for them takes a tenth of the start. */
const noSchemas = () => () => {
  throw new Error('a route has a schema of Fastify, and nothing compiles it');
};

/** All of a request's headers, and the first of them on a new connection. */
const headersMillis = 5_000;

/**
 * How long connections are waited for. A body has a time of its own by its size; this ends what no route reads. An answer
 * may take a minute, where the API waits for the gateway and that for the API. Idle connections stay longer than balancers
 * keep theirs, so that it is they who close them; and after so many requests one ends, so that callers spread over new
 * copies.
 */
const times = {
  requestTimeout: 30_000,
  connectionTimeout: 70_000,
  keepAliveTimeout: 75_000,
  maxRequestsPerSocket: 10_000,
} as const;

export function createService(options: ServiceOptions): Service {
  const { logger } = options;
  const metrics = createMetrics(options.name);
  const places = new Places(options.mostInFlight);
  const bodies = createBodies();
  let waiting = 0;
  let draining = false;

  const answerError = (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const known =
      ofFramework(error as Partial<FastifyError>) ??
      (error === request.raw.errored ? endedInTheMiddle() : options.toApiError(error));
    if (known.code === 'internal')
      logger.error({ err: error, requestId: request.id, path: request.routeOptions.url }, 'fault');
    void sendError(reply, known, request.id);
  };

  const app = fastify({
    logger: false,
    genReqId: requestIdOf,
    requestIdHeader: false,
    ...times,
    http: { headersTimeout: headersMillis, connectionsCheckingInterval: 1_000 },
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
  app.decorateRequest('bodyBytes', 0).decorateRequest('party', null);
  const leave = (request: FastifyRequest): void => {
    if (request.place === null) return;
    const cameBack = request.place === 'returned';
    request.place = null;
    places.leave(cameBack);
  };
  const enter = (request: FastifyRequest): ApiError | undefined => {
    if (!places.take(request.routeOptions.config.isUrgent === true))
      return unavailable('overload', 'Too many requests at once; try again.');
    request.place = 'waiting';
    return undefined;
  };

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      if (!isJsonContentType(request.headers['content-type'] ?? '')) throw unsupportedMediaType();
      request.bodyBytes = bytes.length;
      done(null, parseJsonBody(bytes as Buffer, options.mostValues));
    } catch (error) {
      done(error as Error, undefined);
    }
  });

  noteArrivals(app);
  addRequestSpans(app, (request) => !isHealth(request));
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    if (draining) reply.header('connection', 'close');
    const refused = isHealth(request) ? undefined : enter(request);
    reply.raw.once('close', () => {
      // A caller that leaves before the work began frees its place. Work that began goes on, and keeps the place.
      if (request.place === 'waiting') leave(request);
    });
    done(refused);
  });
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (!hasBody(request)) {
      done(null, payload);
      return;
    }
    // A turn later, all that came with the headers is here.
    process.nextTick(() => {
      try {
        // guard: a half-sent body leaves its place
        if (!bodies.admit(request, reply)) leave(request);
        done(null, payload);
      } catch (error) {
        done(error as Error);
      }
    });
  });
  app.addHook('preHandler', (request, _reply, done) => {
    bodies.arrived(request);
    const refused = request.place === null && !isHealth(request) ? enter(request) : undefined;
    if (request.place === 'waiting') request.place = 'working';
    done(refused);
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    leave(request);
    // The connection may have been opened before the stop; it must not be used again.
    if (draining) reply.header('connection', 'close');
    else if (reply.statusCode >= 400 && bodies.isComing(request)) readRest(request, reply);
    if (reply.statusCode >= 400 && !isHealth(request)) noteError(request, reply, { metrics, logger });
    done();
  });

  closeUnused(app);
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) =>
    sendError(
      reply,
      missing('no_such_path', `Nothing answers ${request.method} here.`),
      request.id,
      options.missingPage?.(request),
    ),
  );

  const readiness = addHealth(app, options.checks, {
    isDraining: () => draining,
    saturation: () => places.saturation(),
  });
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
  metrics.levels(() => ({ inFlight: places.taken, waiting }));
  const metricsServer = createMetricsServer(metrics.registry);

  return {
    app,
    metrics,
    listen: async ({ HOST: host, PORT: port, METRICS_PORT: metricsPort }) => {
      await refuseFaultsForGood(options.checks);
      metricsServer.listen(metricsPort, host);
      await once(metricsServer, 'listening');
      const { port: found } = metricsServer.address() as AddressInfo;
      const address = await app.listen({ host, port });
      return { address, metricsAddress: `http://${isIPv6(host) ? `[${host}]` : host}:${found}` };
    },
    drain: () => {
      draining = true;
    },
    leave,
    aside: async (request, wait) => {
      const left = new AbortController();
      const leaving = (): void => {
        left.abort();
      };
      const { socket } = request.raw;
      socket.once('close', leaving);
      leave(request);
      waiting += 1;
      try {
        await wait(left.signal);
      } finally {
        waiting -= 1;
        socket.off('close', leaving);
      }
      await places.comeBack();
      request.place = 'returned';
    },
    stop: async () => {
      draining = true;
      metricsServer.close();
      metricsServer.closeAllConnections();
      await app.close();
    },
  };
}
