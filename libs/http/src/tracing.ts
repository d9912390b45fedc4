/** Spans of requests. */
import { isTracing, type OpenSpan, openSpan, startTracing } from '@muster/tracing';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { type z } from 'zod';
import { type commonEnvironment } from './config.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null where nothing is traced. */
    span: OpenSpan | null;
  }
}

type TracingConfig = z.output<z.ZodObject<typeof commonEnvironment>>;

let onFault: (error: unknown) => void = () => undefined;
/** Sets the listener that hears of spans which could not be delivered. */
export const onTracingFault = (listener: (error: unknown) => void): void => {
  onFault = listener;
};

/** Before anything else of the service is made: what is made without it stays without it. */
export async function beginTracing(service: string, config: TracingConfig): Promise<void> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config;
  if (endpoint === undefined) return;
  await startTracing({
    service,
    endpoint,
    sampler: config.OTEL_TRACES_SAMPLER,
    share: config.OTEL_TRACES_SAMPLER_ARG,
    delayMillis: config.OTEL_BSP_SCHEDULE_DELAY,
    onFault: (error) => {
      onFault(error);
    },
  });
}

/** Adds a span to each request that `isTraced`; where nothing is traced, nothing. */
export function addRequestSpans(app: FastifyInstance, isTraced: (request: FastifyRequest) => boolean): void {
  if (!isTracing()) return;
  app.decorateRequest('span', null);
  app.addHook('onRequest', (request, reply, done) => {
    const span = isTraced(request) ? begin(request) : undefined;
    if (span === undefined) {
      done();
      return;
    }
    request.span = span;
    reply.raw.once('close', () => {
      const { statusCode } = reply;
      span.end({ 'http.response.status_code': statusCode }, statusCode >= 500 ? `${statusCode}` : undefined);
    });
    span.run(done);
  });
  // What comes after the body was read is called by its stream, which knows of no span.
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.span === null) done();
    else request.span.run(done);
  });
}

/** By its route: a path may be anything, a secret too. */
function begin({ method, routeOptions: { url: route = 'unknown' }, id, headers }: FastifyRequest) {
  const attributes = { 'http.request.method': method, 'http.route': route, 'muster.request_id': id };
  return openSpan({ name: `${method} ${route}`, kind: 'server', attributes }, headers);
}
