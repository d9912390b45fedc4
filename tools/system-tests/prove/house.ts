/** Starts coordination-api and mcp-gateway on a new database. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type ThrowAwayApp } from '@muster/tools';
import { startApp } from './bundles.ts';
import { type GuardRemoval } from './guards.ts';
import { type Database, type Scope } from './services.ts';

export interface TestSite {
  readonly database: Database;
  readonly api: ThrowAwayApp;
  readonly gateway: ThrowAwayApp;
}

/** The guards that are removed from the code of each service. */
export interface Altered {
  readonly api?: readonly GuardRemoval[];
  readonly gateway?: readonly GuardRemoval[];
}

export async function startTestSite(services: Scope, altered: Altered = {}): Promise<TestSite> {
  const database = await services.database();
  const api = await startApp(services, 'coordination-api', {
    environment: { DATABASE_URL: database.url },
    removals: altered.api,
  });
  const gateway = await startApp(services, 'mcp-gateway', {
    environment: { COORDINATION_API_URL: api.url },
    removals: altered.gateway,
  });
  return { database, api, gateway };
}

const run = promisify(execFile);

/** Returns the resident memory of the process, in MiB. */
export async function residentMebibytes({ pid }: ThrowAwayApp): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', pid.toString()]);
  return Number(stdout) / 1_024;
}
