/** A Fastify app as each service needs it: errors as JSON, bodies checked, health, metrics, a cap, a graceful stop. */
import { once } from 'node:events';
import { type AddressInfo, isIPv6, type Socket } from 'node:net';
import { type ApiError, malformed, methodNotAllowed, missing, unsupportedMediaType } from '@muster/registry';
import { fastify, type FastifyInstance, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { createBodies, hasBody } from './bodies.ts';
import { noteArrivals } from './elapsed.ts';
import { createErrorHandler, type ErrorPage, refuseRaw, sendError } from './error-answers.ts';
import { noteError } from './error-notes.ts';
import { addHealth, type Check, refuseFaultsForGood } from './health.ts';
import { isJsonContentType, type MostValues, parseJsonBody, requireUncompressed } from './json-body.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createMetricsServer } from './metrics-server.ts';
import { RequestPlaces } from './request-places.ts';
import { readRest } from './rest-of-body.ts';
import { requestIdOf } from './request-id.ts';
import { addRequestSpans } from './tracing.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the body had, however it was sent; 0 without one. */
    bodyBytes: number;
  }
  interface FastifyContextConfig {
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
  /** Whether a text is a secret of this service and no token: as a request id it would be logged. None is, unless told. */
  readonly isSecret?: (text: string) => boolean;
  /** Any error → what the caller is told. */
  readonly toApiError: (error: unknown) => ApiError;
  /** The page that a browser shows for an error; undefined if the request gets the error as JSON. */
  readonly errorPage?: ErrorPage;
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

/** HTTP/1.1 asks for it (RFC 9112, section 3.2). */
const lacksHost = ({ raw, headers }: FastifyRequest): boolean =>
  raw.httpVersion === '1.1' && headers.host === undefined;

/** Whether only POST is answered at this path, and the request uses another method. OPTIONS is left to CORS. */
function isWrongMethod(app: FastifyInstance, { is404, method, url }: FastifyRequest): boolean {
  if (!is404 || method === 'POST' || method === 'OPTIONS') return false;
  return app.hasRoute({ method: 'POST', url: url.replace(/[?#].*$/s, '') });
}

const isHealth = ({ url }: FastifyRequest): boolean => url === '/livez' || url === '/readyz';

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

/** Expectations beyond 100-continue are passed over (RFC 9110, section 10.1.1): Node would answer 417, without a body. */
function passOverExpectations({ server }: FastifyInstance): void {
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
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

type AnswerError = ReturnType<typeof createErrorHandler>;

/** Fastify with its limits, its refusals in the contract's words, and no compilers. */
const createFrame = ({ trustProxy, isSecret }: ServiceOptions, answerError: AnswerError): FastifyInstance =>
  fastify({
    logger: false,
    genReqId: requestIdOf(isSecret ?? (() => false)),
    requestIdHeader: false,
    ...times,
    // Without Host Node would refuse by itself, and not in the contract's words; addPassage does.
    http: { headersTimeout: headersMillis, connectionsCheckingInterval: 1_000, requireHostHeader: false },
    bodyLimit: 256 * 1024,
    trustProxy: trustOf(trustProxy),
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    clientErrorHandler: (error, socket) => {
      refuseRaw(socket, error);
    },
    frameworkErrors: answerError,
    // Drains by itself: keep-alive connections are told to close with their next answer.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  });

function parseJson(app: FastifyInstance, mostValues: MostValues | undefined): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      if (!isJsonContentType(request.headers['content-type'] ?? '')) throw unsupportedMediaType();
      requireUncompressed(request.headers);
      request.bodyBytes = bytes.length;
      done(null, parseJsonBody(bytes as Buffer, mostValues));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
}

interface Passage {
  readonly places: RequestPlaces;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly isDraining: () => boolean;
}

/** The way of each request: it enters, its body comes, its handler begins, its answer leaves. */
function addPassage(app: FastifyInstance, { places, metrics, logger, isDraining }: Passage): void {
  const bodies = createBodies();
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    if (isDraining()) reply.header('connection', 'close');
    if (lacksHost(request)) {
      done(malformed('malformed_request', 'The request has no Host header.'));
      return;
    }
    if (isWrongMethod(app, request)) {
      done(methodNotAllowed());
      return;
    }
    const refused = isHealth(request) ? undefined : places.enter(request);
    reply.raw.once('close', () => {
      // A caller that leaves before the work began frees its place. Work that began goes on, and keeps the place.
      if (request.place === 'waiting') places.leave(request);
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
        if (!bodies.admit(request, reply)) places.leave(request);
        done(null, payload);
      } catch (error) {
        done(error as Error);
      }
    });
  });
  app.addHook('preHandler', (request, _reply, done) => {
    bodies.arrived(request);
    done(isHealth(request) ? undefined : places.begin(request));
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    places.leave(request);
    // The connection may have been opened before the stop; it must not be used again.
    if (isDraining()) reply.header('connection', 'close');
    else if (reply.statusCode >= 400 && bodies.isComing(request)) readRest(request, reply);
    if (reply.statusCode >= 400 && !isHealth(request)) noteError(request, reply, { metrics, logger });
    done();
  });
}

export function createService(options: ServiceOptions): Service {
  const { logger, checks } = options;
  const metrics = createMetrics(options.name);
  const places = new RequestPlaces(options.mostInFlight);
  let draining = false;
  const isDraining = (): boolean => draining;

  const answerError = createErrorHandler(options.toApiError, logger, options.errorPage);
  const app = createFrame(options, answerError);
  app.decorateRequest('place', null).decorateRequest('operation', null).decorateRequest('error', null);
  app.decorateRequest('bodyBytes', 0).decorateRequest('party', null).decorateRequest('bodyOnItsWay', null);
  parseJson(app, options.mostValues);
  noteArrivals(app);
  addRequestSpans(app, (request) => !isHealth(request));
  addPassage(app, { places, metrics, logger, isDraining });
  closeUnused(app);
  passOverExpectations(app);
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) => {
    const error = missing('no_such_path', `Nothing answers ${request.method} here.`);
    return sendError(reply, error, request.id, options.errorPage?.(request, error));
  });

  const readiness = addHealth(app, checks, { logger, isDraining, saturation: () => places.saturation() });
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
  metrics.levels(() => places.levels());
  const metricsServer = createMetricsServer(metrics.registry);

  return {
    app,
    metrics,
    listen: async ({ HOST: host, PORT: port, METRICS_PORT: metricsPort }) => {
      await refuseFaultsForGood(checks);
      metricsServer.listen(metricsPort, host);
      await once(metricsServer, 'listening');
      const { port: found } = metricsServer.address() as AddressInfo;
      const address = await app.listen({ host, port });
      return { address, metricsAddress: `http://${isIPv6(host) ? `[${host}]` : host}:${found}` };
    },
    drain: () => {
      draining = true;
    },
    leave: (request) => {
      places.leave(request);
    },
    aside: (request, wait) => places.aside(request, wait),
    stop: async () => {
      draining = true;
      metricsServer.close();
      metricsServer.closeAllConnections();
      await app.close();
    },
  };
}
