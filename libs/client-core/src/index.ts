export {
  type Called,
  type CallOptions,
  type ClientOf,
  createClientOf,
  type OperationKind,
  type KindNamespace,
  kindOf,
  type KindTree,
  type Transport,
} from './client.ts';
export * from './errors.ts';
export {
  authorizationHeader,
  failureMessageOf,
  type HttpOptions,
  httpTransport,
  retryAfterSecondsOf,
} from './http.ts';
export { isTemporaryFailure, retryPauseSeconds, retrying, type RetryOptions } from './retrying.ts';
export { parseServerSentEvents } from './server-sent.ts';
