/** What a trace can be told, in words of ours: a caller that says them loads nothing of OpenTelemetry. */

/** Of operations, routes, statements and queues; never what a member wrote, and no secret. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  readonly name: string;
  /** `server` and `consumer` are asked from outside, `client` asks outside; `internal` unless told. */
  readonly kind?: 'server' | 'client' | 'consumer' | 'internal';
  readonly attributes?: Attributes;
}

/** A span that is told its end. */
export interface OpenSpan {
  /** Runs with it as the active one, and all that follows asynchronously. */
  run<Result>(work: () => Result): Result;
  /** `failure` names what went wrong, in a word. */
  end(attributes: Attributes, failure: string | undefined): void;
}

export interface Tracing {
  /** Begins where a caller's headers say that its trace is, else a trace of its own. */
  open(start: SpanStart, headers: Readonly<Record<string, unknown>>): OpenSpan;
  /** The same for work that was asked for before: a child of the first that asked, linked to the others. */
  follow<Result>(
    start: SpanStart,
    traceParents: readonly string[],
    work: () => Promise<Result>,
  ): Promise<Result>;
  /** A child of the active span; where there is none, the work alone: nothing but a request or a job begins a trace. */
  within<Result>(start: () => SpanStart, work: () => Promise<Result>): Promise<Result>;
  describe(name: string, attributes: Attributes): void;
  /** `traceparent` and `tracestate` of the active span; nothing without one. */
  headers(): Readonly<Record<string, string>>;
  traceId(): string | undefined;
  /** Sends what is left, and ends. */
  stop(): Promise<void>;
}
