/**
 * Servers that tests kill and start again at the same address, any number of times. All properties share
 * them.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { provideTemplate } from '@muster/testing/template';
import { Redis as RedisClient } from 'ioredis';
import { type Postgres, type Redis, type ServiceProcess, startPostgres, startRedis } from '@muster/tools';
import { cloneFor, type Database, type Scope } from './services.ts';

type Server = ServiceProcess & { readonly url: string; readonly port: number };

export class Breakable<S extends Server> {
  #server: S;
  readonly #startAt: (port: number) => Promise<S>;
  kills = 0;

  private constructor(server: S, startAt: (port: number) => Promise<S>) {
    this.#server = server;
    this.#startAt = startAt;
  }

  static async start<S extends Server>(startAt: (port?: number) => Promise<S>): Promise<Breakable<S>> {
    return new Breakable(await startAt(), startAt);
  }

  get url(): string {
    return this.#server.url;
  }

  get process(): S {
    return this.#server;
  }

  async kill(): Promise<void> {
    this.kills += 1;
    this.#server.kill();
    await this.#server.exited;
  }

  /** Does nothing if the server is running. */
  async startAgain(): Promise<void> {
    if (!this.#server.isAlive()) this.#server = await this.#startAt(this.#server.port);
  }

  async killAndStartAgain(): Promise<void> {
    await this.kill();
    await this.startAgain();
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }
}

/** A PostgreSQL that keeps committed data when it is killed, and a Redis that loses all data. */
export interface Breakables {
  readonly postgres: Breakable<Postgres>;
  readonly redis: Breakable<Redis>;
  /** Deletes all data in Redis, as an operator might by mistake. */
  flushRedis(): Promise<void>;
  /** Creates a migrated database on the shared Postgres. It is dropped when the scope ends. */
  database(scope: Scope): Promise<Database>;
}

/**
 * Returns both servers after making sure that they run. A previous property may have failed during an outage.
 */
export async function findBreakables(scope: Scope): Promise<Breakables> {
  const breakables = await scope.share('breakables', bringUp);
  await Promise.all([breakables.postgres.startAgain(), breakables.redis.startAgain()]);
  return breakables;
}

/**
 * A commit is in the operating system's file cache before it is acknowledged. The cache survives a killed
 * process; only a crash of the machine would need the disk.
 */
const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'on' };

async function bringUp(home: Scope): Promise<Breakables> {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-prove-'));
  home.onStop(() => rm(folder, { recursive: true, force: true }));
  const dataDir = path.join(folder, 'postgres');
  const postgres = await Breakable.start((port) => startPostgres({ durable: true, dataDir, settings, port }));
  home.onStop(() => postgres.stop());
  const redis = await Breakable.start((port) => startRedis({ durable: false, port }));
  home.onStop(() => redis.stop());
  await provideTemplate(postgres.url);
  return {
    postgres,
    redis,
    flushRedis: async () => {
      const client = new RedisClient(redis.url, { maxRetriesPerRequest: 0, retryStrategy: () => null });
      await client.flushall().finally(() => client.disconnect());
    },
    database: (scope) => cloneFor(scope, postgres.url),
  };
}
