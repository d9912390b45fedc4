import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrate } from '@muster/database';
import { startPostgres, type PostgresOptions } from '../dev/postgres.ts';
import { startRedis } from '../dev/redis.ts';
import { type ServiceProcess } from '../dev/service-process.ts';
import { startThrowAwayApi } from '../dev/throw-away-api.ts';
import { startThrowAwayApp, type ThrowAwayApp } from '../dev/throw-away-app.ts';
import { type Instance } from './instance.ts';

export const partNames = ['Postgres', 'Redis', 'the worker', 'the API'] as const;
export type PartName = (typeof partNames)[number];

/** A process that the instance is made of. */
export interface Part {
  readonly process: ServiceProcess;
  /** Starts it again at the same address, once the one before is gone. */
  startAgain(): Promise<Part>;
}

export interface OwnInstance {
  readonly instance: Instance;
  readonly parts: Map<PartName, Part>;
}

/**
 * An instance of our own that leaves nothing behind. One that is to survive kills of its Postgres keeps the data in a
 * folder until the end.
 */
export async function bringUpInstance(is: string, survives: boolean): Promise<OwnInstance> {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-tour-'));
  const mailFolder = path.join(folder, 'mail');
  const parts = new Map<PartName, Part>();
  const stop = async (): Promise<void> => {
    for (const name of partNames.toReversed()) await parts.get(name)?.process.stop();
    await rm(folder, { recursive: true, force: true });
  };
  /** A part that was started is a part from then on, also where a later one cannot be. */
  const start = async <P extends ServiceProcess & { readonly port: number }>(
    name: PartName,
    startAt: (port?: number) => Promise<P>,
  ): Promise<P> => {
    const started = await startAt();
    const partOf = (process: P): Part => ({
      process,
      startAgain: async () => partOf(await startAt(started.port)),
    });
    parts.set(name, partOf(started));
    return started;
  };
  const at = (port?: number): { port?: number } => (port === undefined ? {} : { port });
  try {
    const kept: PostgresOptions = survives
      ? { durable: true, dataDir: path.join(folder, 'postgres') }
      : { durable: false };
    const postgres = await start('Postgres', (port) => startPostgres({ ...kept, ...at(port) }));
    await migrate(postgres.url);
    const redis = await start('Redis', (port) => startRedis({ durable: false, ...at(port) }));
    const database = { DATABASE_URL: postgres.url };
    const api = await start<ThrowAwayApp>('the API', (port) =>
      startThrowAwayApi({ databaseUrl: postgres.url, log: 'warn', ...at(port) }),
    );
    await start('the worker', (port) =>
      startThrowAwayApp('delivery-worker', {
        log: 'warn',
        environment: { ...database, REDIS_URL: redis.url, BASE_URL: api.url, MAIL_FOLDER: mailFolder },
        ...at(port),
      }),
    );
    const instance: Instance = {
      ...{ baseUrl: api.url, mcpUrl: null, databaseUrl: postgres.url, is, mailFolder, stop },
      // Each process of it has a tail of its own.
      tail: () => (parts.get('the API')?.process as ThrowAwayApp).tail(),
    };
    return { instance, parts };
  } catch (error) {
    await stop();
    throw error;
  }
}
