import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createPool, type Pool } from '@muster/database';
import { lastOf, variablesOf, wordsOf } from '../deploy/dockerfile.ts';
import { startPostgres, type Postgres } from '../dev/postgres.ts';
import { startRedis } from '../dev/redis.ts';
import { repositoryRoot } from '../dev/repository.ts';
import { type AppName } from '../dev/ports.ts';
import { startThrowAwayApp, type ThrowAwayApp } from '../dev/throw-away-app.ts';
import { type LoadProcess, startLoadProcess } from './load-process.ts';
import { metricsUrls } from './processor-time.ts';

const run = promisify(execFile);

/** Connections to Postgres of each server: what coordination-api has unless told. */
export const poolSize = '10';

/** What was started; ends in the reverse order. */
export class Services {
  readonly #endings: (() => Promise<void> | void)[] = [];

  onStop(end: () => Promise<void> | void): void {
    this.#endings.push(end);
  }

  async stop(): Promise<void> {
    for (const end of this.#endings.splice(0).reverse()) await end();
  }

  /** A PostgreSQL that really writes, as in production; nothing of it stays. */
  async postgres(): Promise<Postgres> {
    const postgres = await startPostgres({
      durable: false,
      settings: {
        ...{ fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' },
        // A checkpoint in the middle of one round would be counted against one side.
        ...{ max_wal_size: '4GB', checkpoint_timeout: '30min' },
      },
    });
    this.onStop(() => postgres.stop());
    return postgres;
  }

  /** Connections of the owner of its tables. */
  owner(databaseUrl: string): Pool {
    const owner = createPool({ url: databaseUrl, role: null, name: 'muster-bench', max: 2 });
    this.onStop(() => owner.end());
    return owner;
  }

  /** A Redis in memory, as queues have it; answers its address. */
  async redis(): Promise<string> {
    const redis = await startRedis({ durable: false });
    this.onStop(() => redis.stop());
    return redis.url;
  }

  /** Builds an app as it ships and answers the bundle's main file. */
  async bundle(app: AppName | 'cli' = 'coordination-api'): Promise<string> {
    const folder = await mkdtemp(path.join(tmpdir(), 'muster-bench-'));
    this.onStop(() => rm(folder, { recursive: true, force: true }));
    const build = path.join(repositoryRoot, 'tools/build/build-app.ts');
    await run(process.execPath, [build, `apps/${app}`, folder], { cwd: repositoryRoot });
    return path.join(folder, 'main.js');
  }

  async api(main: string, databaseUrl: string): Promise<ThrowAwayApp> {
    const environment = { DATABASE_URL: databaseUrl, DATABASE_POOL: poolSize, REDIS_URL: await this.redis() };
    return this.app('coordination-api', main, environment);
  }

  /** A bundle that runs as it does in its image. */
  async app(
    name: AppName,
    main: string,
    environment: Readonly<Record<string, string>>,
  ): Promise<ThrowAwayApp> {
    const { PORT: _ofImage, ...variables } = variablesOf(name);
    const nodeOptions = wordsOf(lastOf(name, 'ENTRYPOINT')).filter((word) => word.startsWith('--'));
    const options = {
      main,
      log: 'info',
      nodeOptions,
      environment: { ...variables, ...environment },
    } as const;
    const app = await startThrowAwayApp(name, options);
    metricsUrls.set(app.url, app.metricsUrl);
    this.onStop(() => app.stop());
    return app;
  }

  /** A process that puts load on servers. */
  load(): LoadProcess {
    const load = startLoadProcess();
    this.onStop(() => {
      load.stop();
    });
    return load;
  }

  /** The bare server; answers its address. */
  bare(databaseUrl: string): Promise<string> {
    return this.bareServer('bare.ts', { DATABASE_URL: databaseUrl, DATABASE_POOL: poolSize });
  }

  /** A server of this folder that says where it listens, as a process of its own; answers its address. */
  async bareServer(file: string, environment: Readonly<Record<string, string>>): Promise<string> {
    const child = fork(path.join(import.meta.dirname, file), {
      execArgv: [],
      env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...environment },
    });
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the server of ${file} ended (code ${String(code)})`);
    });
    ended.catch(() => undefined);
    const [url] = (await Promise.race([once(child, 'message'), ended])) as [string];
    this.onStop(() => {
      child.disconnect();
    });
    return url;
  }
}
