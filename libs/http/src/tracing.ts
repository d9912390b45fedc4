/** Traces requests as spans. */
import { isTracing, type OpenSpan, openSpan, startTracing } from '@muster/tracing';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { type z } from 'zod';
import { type commonEnvironment } from './config.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of the request; null if nothing is traced. */
    span: OpenSpan | null;
  }
}

type TracingConfig = z.output<z.ZodObject<typeof commonEnvironment>>;

let tracingFaultListener: (error: unknown) => void = () => undefined;
/** Sets the listener for spans that could not be delivered. */
export const setTracingFaultListener = (listener: (error: unknown) => void): void => {
  tracingFaultListener = listener;
};

/**
 * Starts tracing. Call it before anything else of the service is created, since later calls do not instrument
 * existing objects.
 */
export async function beginTracing(service: string, config: TracingConfig): Promise<void> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config;
  if (endpoint === undefined) return;
  await startTracing({
    service,
    endpoint,
    sampler: config.OTEL_TRACES_SAMPLER,
    samplingRatio: config.OTEL_TRACES_SAMPLER_ARG,
    batchDelayMillis: config.OTEL_BSP_SCHEDULE_DELAY,
    onFault: (error) => {
      tracingFaultListener(error);
    },
  });
}

/** Adds a span to each request that `isTraced` selects. Does nothing if tracing is off. */
export function addRequestSpans(app: FastifyInstance, isTraced: (request: FastifyRequest) => boolean): void {
  if (!isTracing()) return;
  app.decorateRequest('span', null);
  app.addHook('onRequest', (request, reply, done) => {
    const span = isTraced(request) ? openRequestSpan(request) : undefined;
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
  // Hooks after the body was read run in the context of its stream, which has no span.
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.span === null) done();
    else request.span.run(done);
  });
}

/** Opens a span named by the route, since a path may contain anything, even a secret. */
function openRequestSpan({ method, routeOptions: { url: route = 'unknown' }, id, headers }: FastifyRequest) {
  const attributes = { 'http.request.method': method, 'http.route': route, 'muster.request_id': id };
  return openSpan({ name: `${method} ${route}`, kind: 'server', attributes }, headers);
}
