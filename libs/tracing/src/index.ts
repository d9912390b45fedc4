/**
 * Where traces are made, said where it happens. Until `startTracing` was called each of these is a comparison, and nothing of
 * OpenTelemetry is loaded.
 */
import { type TracingOptions } from './options.ts';
import { type Attributes, type OpenSpan, type SpanStart, type Tracing } from './tracing.ts';

export { type SamplerName, samplerNames, type TracingOptions } from './options.ts';
export { type Attributes, type OpenSpan, type SpanStart } from './tracing.ts';

/** One for the process: a statement does not know of which service it is. */
let tracing: Tracing | undefined;

/** From now on spans are made and sent. */
export async function startTracing(options: TracingOptions): Promise<void> {
  const { openTelemetry } = await import('./open-telemetry.ts');
  tracing = openTelemetry(options);
}

/** Sends what is left. */
export async function stopTracing(): Promise<void> {
  const stopping = tracing;
  tracing = undefined;
  await stopping?.stop();
}

export const isTracing = (): boolean => tracing !== undefined;

/** A span for a request, a child of what its headers name; undefined where nothing is traced. */
export const openSpan = (
  start: SpanStart,
  headers: Readonly<Record<string, unknown>>,
): OpenSpan | undefined => tracing?.open(start, headers);

/** Does work in a span of its own, a child of the first that asked for it and linked to the others. */
export const inSpanAfter = <Result>(
  start: () => SpanStart,
  traceParents: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> => (tracing === undefined ? work() : tracing.follow(start(), traceParents, work));

/** Does work in a span of its own, as part of the request or job that it is done for. */
export const inSpan = <Result>(start: () => SpanStart, work: () => Promise<Result>): Promise<Result> =>
  tracing === undefined ? work() : tracing.within(start, work);

/** Says what the active span turned out to be. */
export const describeSpan = (name: string, attributes: Attributes): void => {
  tracing?.describe(name, attributes);
};

const none: Readonly<Record<string, string>> = {};

/** What goes along with a request to another service, so that its spans are children of the active one. */
export const traceHeaders = (): Readonly<Record<string, string>> => tracing?.headers() ?? none;

/** The active span, as it stands in `traceparent`. */
export const traceParent = (): string | undefined => tracing?.headers()['traceparent'];

/** For log lines, to be found from the trace. */
export const traceId = (): string | undefined => tracing?.traceId();
