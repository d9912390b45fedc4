/**
 * The tracing functions that other code calls. Until `startTracing` is called each of them is a single
 * comparison, and OpenTelemetry is not loaded.
 */
import { type TracingOptions } from './options.ts';
import { type Attributes, type OpenSpan, type SpanOptions, type Tracing } from './tracing.ts';

export { type SamplerName, samplerNames, type TracingOptions } from './options.ts';
export { type Attributes, type OpenSpan, type SpanOptions } from './tracing.ts';

/** The tracer of the process. It is global because a database statement does not know its service. */
let tracing: Tracing | undefined;

/** Starts to create and send spans. */
export async function startTracing(options: TracingOptions): Promise<void> {
  const { createOpenTelemetryTracing } = await import('./open-telemetry.ts');
  tracing = createOpenTelemetryTracing(options);
}

/** Sends the remaining spans and stops. */
export async function stopTracing(): Promise<void> {
  const stopping = tracing;
  tracing = undefined;
  await stopping?.stop();
}

export const isTracing = (): boolean => tracing !== undefined;

/**
 * Opens a span for a request, as a child of the trace that its headers name. Returns undefined if tracing is
 * off.
 */
export const openSpan = (
  options: SpanOptions,
  headers: Readonly<Record<string, unknown>>,
): OpenSpan | undefined => tracing?.open(options, headers);

/** Runs work in a new span, as a child of the first requester's span and linked to the others. */
export const inLinkedSpan = <Result>(
  getOptions: () => SpanOptions,
  traceParents: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> =>
  tracing === undefined ? work() : tracing.runInLinkedSpan(getOptions(), traceParents, work);

/** Runs work in a new span within the active request or job. */
export const inSpan = <Result>(getOptions: () => SpanOptions, work: () => Promise<Result>): Promise<Result> =>
  tracing === undefined ? work() : tracing.runInChildSpan(getOptions, work);

/** Sets the name and attributes of the active span. */
export const describeSpan = (name: string, attributes: Attributes): void => {
  tracing?.describeActiveSpan(name, attributes);
};

const noHeaders: Readonly<Record<string, string>> = {};

/** Returns headers for a request to another service, so that its spans are children of the active one. */
export const traceHeaders = (): Readonly<Record<string, string>> => tracing?.headers() ?? noHeaders;

/** Returns the active span in the format of `traceparent`. */
export const traceParent = (): string | undefined => tracing?.headers()['traceparent'];

/** Returns the id of the active trace, which log lines contain so that they can be found from the trace. */
export const traceId = (): string | undefined => tracing?.traceId();
