/** The names of samplers as in OTEL_TRACES_SAMPLER of OpenTelemetry. */
export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof samplerNames)[number];

export interface TracingOptions {
  readonly service: string;
  /** The address of the collector, such as `http://127.0.0.1:4318`. */
  readonly endpoint: string;
  readonly sampler: SamplerName;
  /** The share of traces to keep, 0 to 1, for samplers that keep a share. */
  readonly samplingRatio: number;
  /** The time for which spans are batched, in milliseconds. */
  readonly batchDelayMillis: number;
  /** Called when spans could not be delivered. They are lost. */
  readonly onFault: (error: unknown) => void;
}
