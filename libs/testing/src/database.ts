/** A separate database for each spec file, cloned from the migrated template in about 15 ms. */
import { randomBytes } from 'node:crypto';
import { createPool, type Pool } from '@muster/driver';
import { cloneTemplate, databaseUrl } from './template.ts';

/**
 * Returns the URL of the Postgres server that has the template database. Jest's global set-up sets the
 * variable.
 */
function serverUrl(): string {
  const url = process.env['TEST_DATABASE_URL'];
  if (url === undefined)
    throw new Error('TEST_DATABASE_URL is missing: run specs through Jest, whose set-up starts Postgres');
  return url;
}

export interface TestDatabase {
  readonly url: string;
  /** The pool of the services, which sees one organization at a time. */
  readonly app: Pool;
  /** The pool of the tables' owner, who sees all rows. It prepares data and checks what is stored. */
  readonly owner: Pool;
  close(): Promise<void>;
}

/**
 * Longer timeouts than in a service, which gives up early to shed load. A spec needs the result of a call
 * even on a busy machine. Only calls that hang reach these limits.
 */
const testTimeouts = {
  connectionTimeoutMillis: 25_000,
  lock_timeout: 25_000,
  statement_timeout: 40_000,
  readTimeoutMillis: 45_000,
  idle_in_transaction_session_timeout: 50_000,
};

/** Sets longer timeouts than in production. Call it before the pool opens connections. */
export function withTestTimeouts(pool: Pool): Pool {
  Object.assign(pool.options, testTimeouts);
  return pool;
}

export async function cloneDatabase(): Promise<TestDatabase> {
  const name = `spec_${randomBytes(6).toString('hex')}`;
  await cloneTemplate(serverUrl(), name);
  return openTestDatabase(databaseUrl(serverUrl(), name), name);
}

/**
 * Creates the pool of the tables' owner. Sequential scans are off, so that triggers are planned as for the
 * services.
 * Parallel workers are off, because their start takes longer than reading the few rows of a spec.
 */
function openOwnerPool(url: string, name: string): Pool {
  const owner = withTestTimeouts(createPool({ url, role: null, name, max: 4 }));
  owner.options.options = `${owner.options.options ?? ''} -c enable_seqscan=off -c max_parallel_workers_per_gather=0`;
  return owner;
}

/** Opens a migrated database with its two pools. */
export function openTestDatabase(url: string, name: string): TestDatabase {
  const app = withTestTimeouts(createPool({ url, role: 'muster_app', name }));
  const owner = openOwnerPool(url, `${name}-owner`);
  return {
    ...{ url, app, owner },
    close: async () => {
      await Promise.all([app.end(), owner.end()]);
    },
  };
}
