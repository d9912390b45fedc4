/** As OpenTelemetry names them in OTEL_TRACES_SAMPLER. */
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
  /** Of the collector, such as `http://127.0.0.1:4318`. */
  readonly endpoint: string;
  readonly sampler: SamplerName;
  /** Of traces that are kept, 0 to 1, for samplers that keep a share. */
  readonly share: number;
  /** How long spans are gathered. */
  readonly delayMillis: number;
  /** Told when spans could not be delivered; they are lost. */
  readonly onFault: (error: unknown) => void;
}
