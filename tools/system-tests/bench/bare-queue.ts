// The bare queue: BullMQ in one process that adds jobs and handles them without work. outbox.ts forks this
// program, sends it the number of jobs of a run, and receives the jobs per second.
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';

/** The concurrency and batch size of the worker's queue for mails and pushes, and of its relay. */
const concurrency = 8;
const batchSize = 500;

const connection = new Redis(process.env['REDIS_URL'] ?? '', { maxRetriesPerRequest: null });
const prefix = '{bare}';
const queue = new Queue('bare', {
  connection,
  prefix,
  defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
});
let done = 0;
let onDone = (): void => undefined;
const worker = new Worker(
  'bare',
  async () => {
    done += 1;
    onDone();
  },
  { connection, prefix, concurrency },
);
await worker.waitUntilReady();

process.on('message', (count: number) => {
  void (async () => {
    done = 0;
    const all = new Promise<void>((resolve) => {
      onDone = () => {
        if (done === count) resolve();
      };
    });
    const started = performance.now();
    for (let from = 0; from < count; from += batchSize) {
      const jobs = Array.from({ length: Math.min(batchSize, count - from) }, (_, index) => ({
        name: 'bare',
        data: { orgId: 'bare', rowId: `${from + index}` },
        opts: { jobId: `bare-${started}-${from + index}` },
      }));
      await queue.addBulk(jobs);
    }
    await all;
    process.send?.(count / ((performance.now() - started) / 1_000));
  })();
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
