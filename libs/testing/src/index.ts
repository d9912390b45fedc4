export { type AlteringProxy, startAlteringProxy } from './altering-line.ts';
export { type AppProcess, startApp } from './app-process.ts';
export { cloneDatabase, withTestTimeouts, type TestDatabase } from './database.ts';
export { bytesBeforeAnswer, type PartialRequest, sendPartialRequest } from './half-sent.ts';
export { programEnvironment } from './environment.ts';
export { checkEachCase } from './laws.ts';
export { type BreakableRelay, startBreakableRelay } from './wire.ts';
export {
  type CallSetUp,
  type Makers,
  type OrgSetUp,
  type People,
  type PeopleOf,
  type Person,
  type PersonOf,
  type TokenSetUp,
  type World,
} from './world.ts';
export { useWorld } from './use-world.ts';
export { findFreePort } from './ports.ts';
export { type SpecRedis, redisUrl, startSpecRedis } from './redis.ts';
export {
  type RedisCluster,
  startRedisCluster,
  startWatchedRedis,
  type WatchedRedis,
} from './redis-groups.ts';
export { refusalOf } from './refusals.ts';
export { waitUntil } from './until.ts';
