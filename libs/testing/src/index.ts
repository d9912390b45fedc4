export { type AlteringLine, startAlteringLine } from './altering-line.ts';
export { type AppProcess, startApp } from './app-process.ts';
export { cloneDatabase, patient, type TestDatabase } from './database.ts';
export { heardBefore, type HalfSent, sendHalf } from './half-sent.ts';
export { programEnvironment } from './environment.ts';
export { checkEach } from './laws.ts';
export { type BreakableRelay, wireTo } from './wire.ts';
export {
  type CallSetUp,
  type Makers,
  type OrgSetUp,
  type People,
  type Person,
  type TokenSetUp,
  type World,
} from './world.ts';
export { useWorld } from './use-world.ts';
export { freePort } from './ports.ts';
export { type OwnRedis, redisUrl, startOwnRedis } from './redis.ts';
export {
  type RedisCluster,
  startRedisCluster,
  startWatchedRedis,
  type WatchedRedis,
} from './redis-groups.ts';
export { refusalOf } from './refusals.ts';
export { until } from './until.ts';
