/** coordination-api and mcp-gateway as their images start them, on a database of their own. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startThrowAwayApp, type ThrowAwayApp } from '../dev/throw-away-app.ts';
import { type Alteration, findBundle } from './bundles.ts';
import { type Database, type Scope } from './services.ts';

/** As the Dockerfile has it. */
const nodeOptions = ['--max-semi-space-size=16'];

export interface House {
  readonly database: Database;
  readonly api: ThrowAwayApp;
  readonly gateway: ThrowAwayApp;
}

export interface Altered {
  readonly api?: readonly Alteration[];
  readonly gateway?: readonly Alteration[];
}

export async function startHouse(services: Scope, altered: Altered = {}): Promise<House> {
  const database = await services.database();
  const api = await startThrowAwayApp('coordination-api', {
    ...{ main: await findBundle(services, 'coordination-api', altered.api), log: 'warn', nodeOptions },
    environment: { DATABASE_URL: database.url },
  });
  services.onStop(() => api.stop());
  const gateway = await startThrowAwayApp('mcp-gateway', {
    ...{ main: await findBundle(services, 'mcp-gateway', altered.gateway), log: 'warn', nodeOptions },
    environment: { COORDINATION_API_URL: api.url },
  });
  services.onStop(() => gateway.stop());
  return { database, api, gateway };
}

const run = promisify(execFile);

/** What of the process is in memory, in MiB. */
export async function residentMebibytes({ pid }: ThrowAwayApp): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', pid.toString()]);
  return Number(stdout) / 1_024;
}
