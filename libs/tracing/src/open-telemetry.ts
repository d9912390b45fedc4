/**
 * Traces with OpenTelemetry. It is loaded only if tracing is enabled.
 * Nothing is registered globally and nothing is patched: spans are created only where the code asks for one.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type SamplerName, type TracingOptions } from './options.ts';
import { type OpenSpan, type SpanOptions, type Tracing } from './tracing.ts';

const spanKinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

const samplers: Readonly<Record<SamplerName, (share: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (share) => new TraceIdRatioBasedSampler(share),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (share) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
};

/** The time limit of a stopping process for its collector. */
const stopTimeoutMillis = 3_000;

/**
 * Returns the failure of a span. A refusal is not a failure. Of other errors it returns only the name,
 * because messages quote members' texts.
 */
function failureOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return 'unknown';
  const isRefusal = 'status' in error && typeof error.status === 'number' && error.status < 500;
  return isRefusal ? undefined : error.name;
}

function endSpan(span: Span, failure: string | undefined): void {
  if (failure !== undefined)
    span.setAttribute('error.type', failure).setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

const propagator = new W3CTraceContextPropagator();

/** Returns the trace context of a caller's headers. */
const contextOf = (headers: Readonly<Record<string, unknown>>): Context =>
  propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);

/** Creates a provider that batches spans and sends them to the collector. */
const createProvider = ({
  service,
  endpoint,
  sampler,
  samplingRatio: sampledShare,
  batchDelayMillis,
}: TracingOptions): TracerProvider =>
  new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': service, 'service.namespace': 'muster' }))
      .merge(detectResources({ detectors: [resourceAttributesEnvDetector] })),
    sampler: samplers[sampler](sampledShare),
    spanProcessors: [
      new BatchSpanProcessor({
        scheduledDelayMillis: batchDelayMillis,
        exporter: new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` }),
      }),
    ],
  });

/** Sends the remaining spans within the time limit of a stopping process. */
async function shutDownProvider(provider: TracerProvider, onFault: TracingOptions['onFault']): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, stopTimeoutMillis);
  });
  await Promise.race([provider.shutdown().catch(onFault), patience]);
  clearTimeout(timer);
}

export function createOpenTelemetryTracing(options: TracingOptions): Tracing {
  const { onFault } = options;
  setGlobalErrorHandler(onFault);
  const provider = createProvider(options);
  const tracer = provider.getTracer('muster');
  const active = new AsyncLocalStorage<Context>();

  const spanIn = (context: Context, { name, kind = 'internal', attributes = {} }: SpanOptions): Span =>
    tracer.startSpan(name, { kind: spanKinds[kind], attributes }, context);

  const during = async <Result>(
    span: Span,
    context: Context,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    let failure: string | undefined;
    try {
      return await active.run(trace.setSpan(context, span), work);
    } catch (error) {
      failure = failureOf(error);
      throw error;
    } finally {
      endSpan(span, failure);
    }
  };

  const activeSpan = (): Span | undefined => {
    const context = active.getStore();
    return context && trace.getSpan(context);
  };

  return {
    open: (start, headers): OpenSpan => {
      const context = contextOf(headers);
      const span = spanIn(context, start);
      const inner = trace.setSpan(context, span);
      return {
        run: (work) => active.run(inner, work),
        end: (attributes, failure) => {
          span.setAttributes(attributes);
          endSpan(span, failure);
        },
      };
    },
    runInLinkedSpan: (start, [first, ...others], work) => {
      const context = contextOf(first === undefined ? {} : { traceparent: first });
      const span = spanIn(context, start);
      for (const traceparent of others) {
        const linked = trace.getSpanContext(contextOf({ traceparent }));
        if (linked !== undefined) span.addLink({ context: linked });
      }
      return during(span, context, work);
    },
    runInChildSpan: (start, work) => {
      const context = active.getStore();
      return context === undefined ? work() : during(spanIn(context, start()), context, work);
    },
    describeActiveSpan: (name, attributes) => {
      activeSpan()?.updateName(name).setAttributes(attributes);
    },
    headers: () => {
      const carrier: Record<string, string> = {};
      const context = active.getStore();
      if (context !== undefined) propagator.inject(context, carrier, defaultTextMapSetter);
      return carrier;
    },
    traceId: () => activeSpan()?.spanContext().traceId,
    stop: () => shutDownProvider(provider, onFault),
  };
}
