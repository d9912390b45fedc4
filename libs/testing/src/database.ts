/** A database of its own for each spec file, cloned from the migrated template in some 15 ms. */
import { randomBytes } from 'node:crypto';
import { createPool, type Pool } from '@muster/driver';
import { cloneTemplate, databaseUrl } from './template.ts';

/** Set by Jest's global set-up: the server on which the template lies. */
function serverUrl(): string {
  const url = process.env['TEST_DATABASE_URL'];
  if (url === undefined)
    throw new Error('TEST_DATABASE_URL is missing: run specs through Jest, whose set-up starts Postgres');
  return url;
}

export interface TestDatabase {
  readonly url: string;
  /** As the services see it: one organization at a time. */
  readonly app: Pool;
  /** As its owner, who sees all; for arranging and for looking at what is really there. */
  readonly owner: Pool;
  close(): Promise<void>;
}

/**
 * A service gives up early, to shed load. A spec wants to know what comes of a call, on a machine that may have a lot
 * to do beside it: only what hangs ends by these.
 */
const patience = {
  connectionTimeoutMillis: 25_000,
  lock_timeout: 25_000,
  statement_timeout: 40_000,
  readTimeoutMillis: 45_000,
  idle_in_transaction_session_timeout: 50_000,
};

/** The same pool, which waits longer than one in production; its connections are to be opened yet. */
export function patient(pool: Pool): Pool {
  Object.assign(pool.options, patience);
  return pool;
}

export async function cloneDatabase(): Promise<TestDatabase> {
  const name = `spec_${randomBytes(6).toString('hex')}`;
  await cloneTemplate(serverUrl(), name);
  return databaseAt(databaseUrl(serverUrl(), name), name);
}

/**
 * Connections of the owner of the tables. What triggers do for it is planned as for the services, and what it looks for by
 * one process, since starting more takes longer than reading what a spec has.
 */
function ownerOf(url: string, name: string): Pool {
  const owner = patient(createPool({ url, role: null, name, max: 4 }));
  owner.options.options = `${owner.options.options ?? ''} -c enable_seqscan=off -c max_parallel_workers_per_gather=0`;
  return owner;
}

/** A migrated database, and the two ways into it. */
export function databaseAt(url: string, name: string): TestDatabase {
  const app = patient(createPool({ url, role: 'muster_app', name }));
  const owner = ownerOf(url, `${name}-owner`);
  return {
    ...{ url, app, owner },
    close: async () => {
      await Promise.all([app.end(), owner.end()]);
    },
  };
}
