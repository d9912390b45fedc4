export { type Enqueued, openQueues, type Queues } from './queues.ts';
export { awaitRedis } from './connection.ts';
export { silentQueues } from './watch.ts';
export { freedAfterMillis, type JobOutcome, within, work, type RunningWorker } from './work.ts';
