/** Servers to be killed and started again at the same address, as often as wanted. All properties share them. */
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

  /** Where it is up nothing happens. */
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

/** A PostgreSQL that keeps what was committed when it is killed, and a Redis that keeps nothing. */
export interface Breakables {
  readonly postgres: Breakable<Postgres>;
  readonly redis: Breakable<Redis>;
  /** As an operator's slip of the hand would. */
  flushRedis(): Promise<void>;
  /** A migrated database of its own there; gone with the scope. */
  database(scope: Scope): Promise<Database>;
}

/** Up, both of them, also where whoever had them before broke off in an outage. */
export async function findBreakables(scope: Scope): Promise<Breakables> {
  const breakables = await scope.share('breakables', bringUp);
  await Promise.all([breakables.postgres.startAgain(), breakables.redis.startAgain()]);
  return breakables;
}

/** A commit reaches the files before it is acknowledged; that they reach the disk matters to no process that is killed. */
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
