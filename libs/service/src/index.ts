export { bearerOf } from './bearer.ts';
export { commonEnvironment, ConfigError, parseEnvironment, Port } from './config.ts';
export { closestTo } from './did-you-mean.ts';
export { type Check } from './health.ts';
export { createLogger } from './logging.ts';
export { type Count, type Figure, type Metrics } from './metrics.ts';
export { redisCheck, type RedisCheck, redisScript, type RedisScript } from './redis.ts';
export { longestStopMillis, main, stopOnSignal } from './run.ts';
export { createService, sendError, type Service } from './service.ts';
// The error object is the same on every service, also on one that may not reach the contract.
export { ApiError, badRequest, unavailable } from '@muster/registry';
