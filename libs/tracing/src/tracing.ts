/** The interface of tracing. Its types do not depend on OpenTelemetry, so that callers load nothing of it. */

/** The attributes of operations, routes, statements and queues. They never have members' texts or secrets. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  readonly name: string;
  /**
   * `server` and `consumer` are called from outside, and `client` calls outside. The default is `internal`.
   */
  readonly kind?: 'server' | 'client' | 'consumer' | 'internal';
  readonly attributes?: Attributes;
}

/** A span that the caller ends. */
export interface OpenSpan {
  /** Runs work with this span as the active one, including all asynchronous work that follows. */
  run<Result>(work: () => Result): Result;
  /** Ends the span. `failure` names the problem in a word. */
  end(attributes: Attributes, failure: string | undefined): void;
}

export interface Tracing {
  /** Opens a span in the trace of a caller's headers, or in a new trace. */
  open(options: SpanOptions, headers: Readonly<Record<string, unknown>>): OpenSpan;
  /**
   * Opens a span for work that was requested earlier, as a child of the first requester's span and linked to
   * the others.
   */
  runInLinkedSpan<Result>(
    options: SpanOptions,
    traceParents: readonly string[],
    work: () => Promise<Result>,
  ): Promise<Result>;
  /**
   * Runs work in a child of the active span. Without an active span it only runs the work, because only
   * requests and jobs begin a trace.
   */
  runInChildSpan<Result>(getOptions: () => SpanOptions, work: () => Promise<Result>): Promise<Result>;
  describeActiveSpan(name: string, attributes: Attributes): void;
  /** Returns `traceparent` and `tracestate` of the active span, or no headers without one. */
  headers(): Readonly<Record<string, string>>;
  traceId(): string | undefined;
  /** Sends the remaining spans and stops. */
  stop(): Promise<void>;
}
