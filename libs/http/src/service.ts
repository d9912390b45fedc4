/**
 * Creates the Fastify app that all services share: JSON errors, checked bodies, health, metrics, a
 * concurrency limit, and a graceful stop.
 */
import { once } from 'node:events';
import { type AddressInfo, isIPv6, type Socket } from 'node:net';
import {
  type ApiError,
  malformedRequest,
  methodNotAllowed,
  notFoundWithReason,
  unsupportedMediaType,
} from '@muster/contract';
import { fastify, type FastifyInstance, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { createBodyLimiter, hasBody } from './bodies.ts';
import { recordArrivalTimes } from './elapsed.ts';
import { createErrorHandler, type RenderErrorPage, answerMalformedHttp, sendError } from './error-answers.ts';
import { recordErrorResponse } from './error-notes.ts';
import { addHealthRoutes, type HealthCheck, requireUsableDependencies } from './health.ts';
import { isJsonContentType, type ValueLimits, parseJsonBody, requireUncompressed } from './json-body.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createMetricsServer } from './metrics-server.ts';
import { RequestSlotTracker } from './request-places.ts';
import { cutOffRestOfBody, drainRequestBody } from './rest-of-body.ts';
import { requestIdOf } from './request-id.ts';
import { addRequestSpans } from './tracing.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The size of the body in bytes, however it was sent; 0 without a body. */
    bodyBytes: number;
  }
  interface FastifyContextConfig {
    /** True if a missing or invalid token is refused in the form that clients of MCP expect. */
    isForMcp?: boolean;
    /** True if the handler reads the body as a stream, and limits its size and number itself. */
    readsStream?: boolean;
  }
}

export interface ServiceOptions {
  readonly name: string;
  readonly logger: Logger;
  readonly checks: readonly HealthCheck[];
  /**
   * The maximum number of requests answered at the same time; more get 503 with Retry-After. Without the
   * limit, twice the load reduced the throughput from 390/s to 66/s.
   */
  readonly maxInFlight: number;
  /** The maximum number of values in a body; 500,000 by default. */
  readonly valueLimits?: ValueLimits;
  /**
   * The proxies whose X-Forwarded-For is trusted: addresses or networks, or a number of hops; false trusts
   * none.
   */
  readonly trustProxy: string[] | number | false;
  /**
   * Returns true if a text is a secret of this service other than a token. The service does not use such a
   * text as a request id, because request ids are logged. By default, no text counts as a secret.
   */
  readonly containsSecret?: (text: string) => boolean;
  /** Converts any error to the error for the caller. */
  readonly toApiError: (error: unknown) => ApiError;
  /** Renders the page that a browser shows for an error; undefined if the request gets the error as JSON. */
  readonly renderErrorPage?: RenderErrorPage;
  /** The time limit for a whole request, in milliseconds; 30 seconds by default. */
  readonly requestTimeoutMillis?: number;
}

export interface Service {
  readonly app: FastifyInstance;
  readonly metrics: Metrics;
  /**
   * Listens for callers, and on a separate port for monitoring. Throws a ConfigError if a dependency is
   * available and can never be used.
   */
  listen(at: {
    readonly HOST: string;
    readonly PORT: number;
    readonly METRICS_PORT: number;
  }): Promise<{ readonly address: string; readonly metricsAddress: string }>;
  /** Ends readiness and asks connections to close with their next response. Everything is still answered. */
  drain(): void;
  /**
   * Lets a request wait without occupying a request slot. Afterwards the request queues for a slot. The
   * signal is aborted when the caller disconnects.
   */
  readonly waitWithoutSlot: <Result>(
    request: FastifyRequest,
    wait: (disconnected: AbortSignal) => Promise<Result>,
  ) => Promise<Result>;
  /** Releases the slot of a request when the remaining work causes no load in this process. */
  readonly releaseSlot: (request: FastifyRequest) => void;
  /** Accepts no more connections and finishes the running requests. */
  stop(): Promise<void>;
}

/** True if the Host header is missing, which HTTP/1.1 requires (RFC 9112, section 3.2). */
const lacksHost = ({ raw, headers }: FastifyRequest): boolean =>
  raw.httpVersion === '1.1' && headers.host === undefined;

/**
 * True if only POST is answered at this path and the request uses another method. OPTIONS is left to CORS.
 */
function isWrongMethod(app: FastifyInstance, { is404, method, url }: FastifyRequest): boolean {
  if (!is404 || method === 'POST' || method === 'OPTIONS') return false;
  return app.hasRoute({ method: 'POST', url: url.replace(/[?#].*$/s, '') });
}

const isHealthRequest = ({ url }: FastifyRequest): boolean => url === '/livez' || url === '/readyz';

/**
 * Ends the connections without any data at the stop, such as those that browsers open in advance. Node treats
 * them as busy until the header timeout.
 */
function closeUnusedConnections(app: FastifyInstance): void {
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
 * Ignores expectations other than 100-continue (RFC 9110, section 10.1.1). Node would answer 417 without a
 * body.
 */
function ignoreExpectations({ server }: FastifyInstance): void {
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/**
 * Converts a number of trusted hops to a function. With a plain number Fastify would trust no proxy, because
 * Fastify cannot know how many proxies exist. The operator who sets the number knows.
 */
const trustProxyOption = (trustedProxies: ServiceOptions['trustProxy']) =>
  typeof trustedProxies === 'number'
    ? (_address: string, hop: number) => hop < trustedProxies
    : trustedProxies;

/**
 * Disables Fastify's schema compilers. The pipeline validates parameters, and loading the compilers takes a
 * tenth of the startup time.
 */
const rejectSchemas = () => () => {
  throw new Error('the route has a Fastify schema, but no schema compiler is set');
};

/**
 * The time limit in milliseconds for all headers of a request, and for the first request on a new connection.
 */
const headersTimeoutMillis = 5_000;

/**
 * The timeouts of connections, in milliseconds. A body has a separate deadline by its size; `requestTimeout`
 * ends one that no route reads. A response may take a minute, if the API waits for the gateway and vice
 * versa. Idle connections live longer than those of load balancers, so that the balancer closes them first.
 * After this number of requests a connection ends, so that callers spread over new copies.
 */
const connectionLimits = {
  requestTimeout: 30_000,
  connectionTimeout: 70_000,
  keepAliveTimeout: 75_000,
  maxRequestsPerSocket: 10_000,
} as const;

type ErrorHandler = ReturnType<typeof createErrorHandler>;

/** Creates Fastify with the service's limits, error responses in the contract's form, and no schema compilers. */
const createFastify = (
  { trustProxy, containsSecret: isSecret, requestTimeoutMillis }: ServiceOptions,
  answerError: ErrorHandler,
): FastifyInstance =>
  fastify({
    logger: false,
    genReqId: requestIdOf(isSecret ?? (() => false)),
    requestIdHeader: false,
    ...connectionLimits,
    ...(requestTimeoutMillis !== undefined && { requestTimeout: requestTimeoutMillis }),
    // Without a Host header Node would answer in its own format, so addRequestHooks checks it instead.
    http: {
      headersTimeout: headersTimeoutMillis,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: false,
    },
    bodyLimit: 256 * 1024,
    trustProxy: trustProxyOption(trustProxy),
    schemaController: { compilersFactory: { buildValidator: rejectSchemas, buildSerializer: rejectSchemas } },
    clientErrorHandler: (error, socket) => {
      answerMalformedHttp(socket, error);
    },
    frameworkErrors: answerError,
    // Draining closes connections: keep-alive connections are asked to close with their next response.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  });

function addJsonParser(app: FastifyInstance, valueLimits: ValueLimits | undefined): void {
  app.removeAllContentTypeParsers();
  addParser(app, 'application/json', valueLimits);
}

/** Accepts bodies of SCIM (RFC 7644, section 3.1) with the limits of other bodies. */
export const addScimJsonParser = (app: FastifyInstance): void => {
  addParser(app, 'application/scim+json', undefined);
};

function addParser(app: FastifyInstance, contentType: string, valueLimits: ValueLimits | undefined): void {
  app.addContentTypeParser(contentType, { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      if (!isJsonContentType(request.headers['content-type'] ?? '')) throw unsupportedMediaType();
      requireUncompressed(request.headers);
      request.bodyBytes = bytes.length;
      done(null, parseJsonBody(bytes as Buffer, valueLimits));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
}

interface RequestHookContext {
  readonly slotTracker: RequestSlotTracker;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly isDraining: () => boolean;
}

/**
 * Adds the hooks that each request passes: it enters, its body arrives, its handler begins, its response is
 * sent.
 */
function addRequestHooks(
  app: FastifyInstance,
  { slotTracker: places, metrics, logger, isDraining }: RequestHookContext,
): void {
  const bodies = createBodyLimiter();
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    if (isDraining()) reply.header('connection', 'close');
    if (lacksHost(request)) {
      done(malformedRequest('malformed_request', 'The request has no Host header.'));
      return;
    }
    if (isWrongMethod(app, request)) {
      done(methodNotAllowed());
      return;
    }
    const refused = isHealthRequest(request) ? undefined : places.takeSlot(request);
    reply.raw.once('close', () => {
      // A caller that disconnects before the work began frees its slot. Work that has begun continues and
      // keeps the slot.
      if (request.place === 'waiting') places.releaseSlot(request);
    });
    done(refused);
  });
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (!hasBody(request) || request.routeOptions.config.readsStream === true) {
      done(null, payload);
      return;
    }
    // One turn of the event loop later, all data that arrived with the headers is available.
    process.nextTick(() => {
      try {
        // guard: a half-sent body leaves its place
        if (!bodies.admit(request, reply)) places.releaseSlot(request);
        done(null, payload);
      } catch (error) {
        done(error as Error);
      }
    });
  });
  app.addHook('preHandler', (request, _reply, done) => {
    bodies.releaseCapacity(request);
    done(isHealthRequest(request) ? undefined : places.startWork(request));
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    places.releaseSlot(request);
    // The connection may have been opened before the stop, so it must not be reused.
    if (isDraining()) reply.header('connection', 'close');
    else if (reply.statusCode >= 400 && bodies.isStillArriving(request)) drainRequestBody(request, reply);
    if (reply.statusCode >= 400 && !isHealthRequest(request))
      recordErrorResponse(request, reply, { metrics, logger });
    done();
  });
  app.addHook('onResponse', (request, _reply, done) => {
    cutOffRestOfBody(request);
    done();
  });
}

export function createService(options: ServiceOptions): Service {
  const { logger, checks } = options;
  const metrics = createMetrics(options.name);
  const places = new RequestSlotTracker(options.maxInFlight);
  let draining = false;
  const isDraining = (): boolean => draining;

  const answerError = createErrorHandler(options.toApiError, logger, options.renderErrorPage);
  const app = createFastify(options, answerError);
  app.decorateRequest('place', null).decorateRequest('operation', null).decorateRequest('error', null);
  app.decorateRequest('bodyBytes', 0).decorateRequest('party', null).decorateRequest('pendingBody', null);
  addJsonParser(app, options.valueLimits);
  recordArrivalTimes(app);
  addRequestSpans(app, (request) => !isHealthRequest(request));
  addRequestHooks(app, { slotTracker: places, metrics, logger, isDraining });
  closeUnusedConnections(app);
  ignoreExpectations(app);
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) => {
    const error = notFoundWithReason('no_such_path', `No ${request.method} route exists at this path.`);
    return sendError(reply, error, request.id, options.renderErrorPage?.(request, error));
  });

  const readiness = addHealthRoutes(app, checks, {
    logger,
    isDraining,
    saturation: () => places.saturation(),
  });
  metrics.addGauges(
    'muster_dependency_up',
    'Dependencies of the service: 1 is available, 0 is unavailable',
    ['dependency'],
    async () =>
      Object.entries((await readiness()).checks).map(([dependency, state]) => ({
        labels: { dependency },
        value: state === 'ok' ? 1 : 0,
      })),
  );
  metrics.addRequestGauges(() => places.levels());
  const metricsServer = createMetricsServer(metrics.registry);

  return {
    app,
    metrics,
    listen: async ({ HOST: host, PORT: port, METRICS_PORT: metricsPort }) => {
      await requireUsableDependencies(checks);
      metricsServer.listen(metricsPort, host);
      await once(metricsServer, 'listening');
      const { port: found } = metricsServer.address() as AddressInfo;
      const address = await app.listen({ host, port });
      return { address, metricsAddress: `http://${isIPv6(host) ? `[${host}]` : host}:${found}` };
    },
    drain: () => {
      draining = true;
    },
    releaseSlot: (request) => {
      places.releaseSlot(request);
    },
    waitWithoutSlot: (request, wait) => places.waitWithoutSlot(request, wait),
    stop: async () => {
      draining = true;
      metricsServer.close();
      metricsServer.closeAllConnections();
      await app.close();
    },
  };
}
