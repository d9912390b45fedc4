export { parseRedisUrl } from './address.ts';
export { mastersOf, openRedis, type RedisClient } from './client.ts';
export { hashTagOf } from './hash-tag.ts';
