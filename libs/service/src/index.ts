export { commonEnvironment, ConfigError, parseEnvironment, Port } from './config.ts';
export { type Check } from './health.ts';
export { createLogger } from './logging.ts';
export { type Count, type Figure, type Metrics } from './metrics.ts';
export { redisCheck, type RedisCheck } from './redis.ts';
export { main, stopOnSignal } from './run.ts';
export { createService, sendError, type Service } from './service.ts';
