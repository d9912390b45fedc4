export { bearerTokenOf, addIssuerTo401, protectedResourcePath } from './bearer.ts';
export {
  commonEnvironment,
  ConfigError,
  parsedVariable,
  parseEnvironment,
  parseKeys,
  parseOrigins,
  Port,
  RedisUrl,
  TrustProxy,
} from './config.ts';
export {
  createConcurrencyLimiter,
  type ConcurrencyLimiter,
  type Admission,
  type Party,
} from './concurrency-limiter.ts';
export { findSimilarNames } from './did-you-mean.ts';
export { durationMillis, elapsedMillis } from './elapsed.ts';
export {
  type Cookies,
  createCookies,
  type FormFields,
  formFieldsOf,
  requireOwnPage,
  pathWithinOrigin,
  queryFieldsOf,
  addFormParser,
} from './forms.ts';
export { createGatewayCheck, gatewayKeyHeader } from './gateway-key.ts';
export { type HealthCheck } from './health.ts';
export { Html, html } from './html.ts';
export {
  rateLimitField,
  type Limit,
  rateLimitPolicyField,
  requireWithinLimits,
  retryAfterSeconds,
} from './limits/headers.ts';
export { createRateLimiter, type RateLimiter } from './limits/rate-limiter.ts';
export { createMemoryStore } from './limits/memory-store.ts';
export { type Quota, type Rate, rateVariable } from './limits/rate.ts';
export { createSharedStore } from './limits/shared.ts';
export { type Cost, type BucketStore } from './limits/store.ts';
export { createLogger } from './logging.ts';
export { type CountOutcome, createMetrics, type GaugeValue, type Metrics } from './metrics.ts';
export { networkOf } from './network.ts';
export { userAgentOf } from './user-agent.ts';
export { readStyles } from './look.ts';
export { createPageFrame, type PageFrameOptions, type RenderedPage, sendRenderedPage } from './page.ts';
export { minRedisVersion, createRedisCheck, type RedisCheck } from './redis.ts';
export { defineService, runServices, type StartService, stopTimeoutMillis } from './run.ts';
export {
  cookieOf,
  requireSecureBaseUrl,
  requireSameOrigin,
  type SessionCookie,
  sessionCookieOf,
  sessionSecretOf,
} from './session-cookie.ts';
export { type NextTurn, type Loop, startLoop } from './loop.ts';
export { type CallFacts, createCallRecorder, type RecordCall } from './record-calls.ts';
export {
  acceptsHtml,
  createErrorHandler,
  type RenderErrorPage,
  errorTitle,
  fromFrameworkError,
  sendError,
} from './error-answers.ts';
export { addScimJsonParser, createService, type Service } from './service.ts';
export { describeSpan, inSpan, traceHeaders } from '@muster/tracing';
// All services share the error object, including those that must not import the contract.
export {
  ApiError,
  badRequest,
  forbidden,
  internalError,
  malformedRequest,
  notFoundWithReason,
  notFound,
  parseWith,
  refusal,
  scopeTooSmall,
  tooManyRequests,
  unauthorized,
  serviceUnavailable,
} from '@muster/contract';
/** The release of the product, for services that do not use its contract. */
export { productVersion } from '@muster/contract';
