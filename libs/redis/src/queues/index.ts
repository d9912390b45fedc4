export { type QueuedJob, openQueues, type Queues } from './queues.ts';
export { awaitRedis } from './connection.ts';
export { findSilentQueues } from './watch.ts';
export {
  killedJobFreedAfterMillis,
  type JobOutcome,
  rejectOnAbort,
  startQueueWorker,
  type RunningWorker,
} from './work.ts';
