// A queue of another product in one process that adds jobs and handles them without work. peers.ts starts this
// program, sends it the number of jobs of a run, and receives the jobs per second. QUEUE names the product,
// FOLDER is where it is installed.
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** As in bare-queue.ts. */
const concurrency = 8;
const batchSize = 500;

const { QUEUE: product = '', FOLDER: folder = '', DATABASE_URL: connectionString = '' } = process.env;
const resolveOf = createRequire(path.join(folder, 'package.json'));

let left = 0;
let onDone = (): void => undefined;
const handle = async (count: number): Promise<void> => {
  left -= count;
  if (left === 0) onDone();
};

/** The parts of both packages that are used here. They are installed outside the lockfile. */
interface Packages {
  readonly 'graphile-worker': {
    readonly Logger: new (scopedLogger: () => () => undefined) => object;
    readonly run: (options: object) => Promise<unknown>;
    readonly makeWorkerUtils: (
      options: object,
    ) => Promise<{ addJobs(jobs: readonly object[]): Promise<unknown> }>;
  };
  readonly 'pg-boss': {
    readonly PgBoss: new (options: object) => {
      start(): Promise<unknown>;
      createQueue(name: string): Promise<unknown>;
      work(
        name: string,
        options: object,
        handler: (jobs: readonly object[]) => Promise<void>,
      ): Promise<unknown>;
      insert(name: string, jobs: readonly object[]): Promise<unknown>;
    };
  };
}

const load = async <Name extends keyof Packages>(name: Name): Promise<Packages[Name]> =>
  (await import(pathToFileURL(resolveOf.resolve(name)).href)) as Packages[Name];

/** Starts a product's worker. Returns the function that adds jobs. */
const products: Record<string, () => Promise<(count: number) => Promise<unknown>>> = {
  'graphile-worker': async () => {
    const { run, makeWorkerUtils, Logger } = await load('graphile-worker');
    const options = { connectionString, logger: new Logger(() => () => undefined) };
    await run({ ...options, concurrency, parsedCronItems: [], taskList: { bare: () => handle(1) } });
    const utils = await makeWorkerUtils(options);
    return (count) =>
      utils.addJobs(Array.from({ length: count }, () => ({ identifier: 'bare', payload: {} })));
  },
  'pg-boss': async () => {
    const { PgBoss } = await load('pg-boss');
    const boss = new PgBoss({ connectionString });
    await boss.start();
    await boss.createQueue('bare');
    const options = { batchSize, pollingIntervalSeconds: 0.5 };
    for (let worker = 0; worker < concurrency; worker += 1)
      await boss.work('bare', options, (jobs) => handle(jobs.length));
    return (count) =>
      boss.insert(
        'bare',
        Array.from({ length: count }, () => ({ data: {} })),
      );
  },
};

const add = await products[product]?.();
if (add === undefined) throw new Error(`QUEUE is no known product: ${product}`);

process.on('message', (count: number) => {
  void (async () => {
    left = count;
    const all = new Promise<void>((resolve) => {
      onDone = resolve;
    });
    const started = performance.now();
    for (let from = 0; from < count; from += batchSize) await add(Math.min(batchSize, count - from));
    await all;
    process.send?.(count / ((performance.now() - started) / 1_000));
  })();
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
