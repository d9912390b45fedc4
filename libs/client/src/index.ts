export {
  BadRequestError,
  type Called,
  type CallOptions,
  ConflictError,
  errorBodyIn,
  errorOf,
  ForbiddenError,
  type HttpOptions,
  httpTransport,
  isRefusal,
  MusterError,
  NoAnswer,
  NotFoundError,
  RateLimitedError,
  retrying,
  type RetryOptions,
  type Transport,
  UnauthorizedError,
  UnavailableError,
  UnprocessableError,
} from '@muster/client-core';
export { connect } from './connect.ts';
export { type Client, createClient } from './client.ts';
export { type FollowActivityOptions, followActivity, type FollowOptions, followEvents } from './events.ts';
export {
  type Acquired,
  type HeldLease,
  holdLease,
  type LeaseHandle,
  type LeaseOptions,
  type LeaseTarget,
  withLease,
} from './lease.ts';
export { followStream, type Streamed, type StreamOptions } from './stream.ts';
