// Jest's globalSetup: brings up, for the whole run, the servers that the project's specs can reach and no others. `npm
// test` brings them up once for all projects.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { builtApps } from './built-apps.ts';
import { type Service, servicesOf } from './services-of.ts';
import stopServices, { stopLater } from './stop-services.ts';

const workspaceRoot = path.resolve(import.meta.dirname, '../..');

export default async function startServices(run: { rootDir: string; outputFile?: string }): Promise<void> {
  // Jest does not make the folder that --outputFile names.
  if (run.outputFile !== undefined) await mkdir(path.dirname(run.outputFile), { recursive: true });

  process.env['BUILT_APPS'] = (await builtApps(run.rootDir, process.env)).join(',');
  await bringUp(await servicesOf(workspaceRoot, run.rootDir));
}

/** Those that are not there yet; where they are stands in the environment. */
export async function bringUp(services: ReadonlySet<Service>): Promise<void> {
  try {
    if (services.has('postgres'))
      await provideTemplate((process.env['TEST_DATABASE_URL'] ??= await startOwnPostgres()));
    if (services.has('redis')) process.env['TEST_REDIS_URL'] ??= await findOrStartRedis();
  } catch (error) {
    // Jest runs no globalTeardown after a globalSetup that failed.
    await stopServices();
    throw error;
  }
}

async function startOwnPostgres(): Promise<string> {
  const { startPostgres } = await import('../dev/postgres.ts');
  const postgres = await startPostgres({ durable: false });
  stopLater(postgres);
  return postgres.url;
}

/**
 * A migrated template, from which each spec's world clones a database of its own. `npm test` makes it for all projects; a
 * server that an operator names in TEST_DATABASE_URL, as a superuser, gets one and keeps it, with what specs clone.
 */
async function provideTemplate(serverUrl: string): Promise<void> {
  const { default: pg } = await import('pg');
  const { templateLock, templateName } = await import('@muster/testing/template');
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [templateLock]);
    const exists = 'select from pg_database where datname = $1';
    if ((await client.query(exists, [templateName])).rowCount === 1) return;
    await client.query(`create database ${templateName}`);
    const templateUrl = new URL(serverUrl);
    templateUrl.pathname = `/${templateName}`;
    const { migrate } = await import('@muster/database');
    await migrate(templateUrl.href);
  } finally {
    await client.end();
  }
}

/** The one that REDIS_URL names, as in CI, or one of our own. */
async function findOrStartRedis(): Promise<string> {
  const { findGivenRedis, startRedis } = await import('../dev/redis.ts');
  const given = await findGivenRedis();
  if (given !== undefined) return given;
  const redis = await startRedis({ durable: false });
  stopLater(redis);
  return redis.url;
}
