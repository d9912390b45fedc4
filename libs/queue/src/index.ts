export { type Enqueued, openQueues, type QueueCounts, type Queues } from './queues.ts';
export { awaitRedis, EvictingRedis } from './redis.ts';
export { silentQueues } from './watch.ts';
export { freedAfterMillis, type Outcome, within, work, type Working } from './work.ts';
