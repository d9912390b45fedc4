import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createPool, type Pool } from '@muster/driver';
import { migrate } from '@muster/migrations';
import {
  type AppName,
  type Postgres,
  repositoryRoot,
  startPostgres,
  startRedis,
  startThrowAwayApp,
  type ThrowAwayApp,
} from '@muster/tools';
import { lastOf, variablesOf, wordsOf } from '../../deploy/dockerfile.ts';
import { type Load, type LoadResult } from './load-request.ts';
import { type Bench } from './measure.ts';
import { metricsUrls } from './processor-time.ts';
import { type Program, startProgram } from './program.ts';

const run = promisify(execFile);

/** The number of each server's connections to Postgres: the default of coordination-api. */
export const poolSize = '10';

/** Started servers and programs. They are stopped in reverse order. */
export class Services {
  readonly #endings: (() => Promise<void> | void)[] = [];

  onStop(end: () => Promise<void> | void): void {
    this.#endings.push(end);
  }

  async stop(): Promise<void> {
    for (const end of this.#endings.splice(0).reverse()) await end();
  }

  /** Starts a PostgreSQL that writes durably, as in production. Its data is removed at the end. */
  async postgres(): Promise<Postgres> {
    const postgres = await startPostgres({
      durable: false,
      settings: {
        ...{ fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' },
        // A checkpoint during one round would slow down only one of the compared servers.
        ...{ max_wal_size: '4GB', checkpoint_timeout: '30min' },
      },
    });
    this.onStop(() => postgres.stop());
    return postgres;
  }

  /** Opens a pool as the owner of the database's tables. */
  owner(databaseUrl: string): Pool {
    const owner = createPool({ url: databaseUrl, role: null, name: 'muster-bench', max: 2 });
    this.onStop(() => owner.end());
    return owner;
  }

  /** Starts a Redis without persistence and returns its address. */
  async redis(): Promise<string> {
    const redis = await startRedis({ durable: false });
    this.onStop(() => redis.stop());
    return redis.url;
  }

  /** Builds an app as it ships and returns the bundle's main file. */
  async bundle(app: AppName | 'cli' = 'coordination-api'): Promise<string> {
    const folder = await mkdtemp(path.join(tmpdir(), 'muster-bench-'));
    this.onStop(() => rm(folder, { recursive: true, force: true }));
    const build = path.join(repositoryRoot, 'tools/build/build-app.ts');
    await run(process.execPath, [build, `apps/${app}`, folder], { cwd: repositoryRoot });
    return path.join(folder, 'main.js');
  }

  /**
   * Sets up most measurements: a migrated database, the API that uses it, and a process that puts load on it.
   */
  async installation() {
    const postgres = await this.postgres();
    await migrate(postgres.url);
    const main = await this.bundle();
    const api = await this.api(main, postgres.url);
    const owner = this.owner(postgres.url);
    return { postgres, main, api, owner, bench: await this.bench(owner, postgres) };
  }

  async bench(owner: Pool, { pid }: Postgres): Promise<Bench> {
    return { load: await this.load(), owner, postmaster: pid };
  }

  async api(main: string, databaseUrl: string): Promise<ThrowAwayApp> {
    const environment = { DATABASE_URL: databaseUrl, DATABASE_POOL: poolSize, REDIS_URL: await this.redis() };
    return this.app('coordination-api', main, environment);
  }

  /** Starts a bundle with the variables of its image. */
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

  /** Starts the process that puts load on servers. */
  async load(): Promise<Load> {
    const program = await this.program('load.ts');
    return async (run) => (await program.ask(run)) as LoadResult;
  }

  /** Starts the bare server that only runs a statement for each operation. Returns its address. */
  bare(databaseUrl: string): Promise<string> {
    const environment = { DATABASE_URL: databaseUrl, DATABASE_POOL: poolSize, STEP: 'statement' };
    return this.bareServer(environment);
  }

  /** Starts the bare server with the steps that STEP names. Returns its address. */
  async bareServer(environment: Readonly<Record<string, string>>): Promise<string> {
    return (await this.program('bare.ts', environment)).first as string;
  }

  async program(file: string, environment: Readonly<Record<string, string>> = {}): Promise<Program> {
    const program = await startProgram(file, environment);
    this.onStop(() => {
      program.stop();
    });
    return program;
  }
}
