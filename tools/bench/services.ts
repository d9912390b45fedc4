import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { startPostgres, type Postgres } from '../dev/postgres.ts';
import { repositoryRoot } from '../dev/repository.ts';
import { startThrowAwayApi, type ThrowAwayApi } from '../dev/throw-away-api.ts';

const run = promisify(execFile);

/** Connections to Postgres of each server: what coordination-api has unless told. */
const poolSize = '10';

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

  /** Builds coordination-api as it ships and answers the bundle's main file. */
  async bundle(): Promise<string> {
    const folder = await mkdtemp(path.join(tmpdir(), 'muster-bench-'));
    this.onStop(() => rm(folder, { recursive: true, force: true }));
    const build = path.join(repositoryRoot, 'tools/build/build-app.ts');
    await run(process.execPath, [build, 'apps/coordination-api', folder], { cwd: repositoryRoot });
    return path.join(folder, 'main.js');
  }

  async api(main: string, databaseUrl: string): Promise<ThrowAwayApi> {
    const environment = { DATABASE_POOL: poolSize };
    const api = await startThrowAwayApi({ main, databaseUrl, log: 'info', environment });
    this.onStop(() => api.stop());
    return api;
  }

  /** The bare server; answers its address. */
  async bare(databaseUrl: string): Promise<string> {
    const child = fork(path.join(import.meta.dirname, 'bare.ts'), {
      execArgv: [],
      env: {
        PATH: process.env['PATH'],
        NODE_ENV: 'production',
        DATABASE_URL: databaseUrl,
        DATABASE_POOL: poolSize,
      },
    });
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the bare server ended (code ${String(code)})`);
    });
    ended.catch(() => undefined);
    const [url] = (await Promise.race([once(child, 'message'), ended])) as [string];
    this.onStop(() => {
      child.disconnect();
    });
    return url;
  }
}
