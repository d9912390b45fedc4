export { connect } from './connect.ts';
export { type Called, type CallOptions, type Client, createClient, type Transport } from './client.ts';
export * from './errors.ts';
export { type FollowActivityOptions, followActivity, type FollowOptions, followEvents } from './events.ts';
export { type HttpOptions, httpTransport } from './http.ts';
export {
  type Acquired,
  type HeldLease,
  holdLease,
  type LeaseHandle,
  type LeaseOptions,
  type LeaseTarget,
  withLease,
} from './lease.ts';
export { retrying, type RetryOptions } from './retrying.ts';
export { followStream, type Streamed, type StreamOptions } from './stream.ts';
