// Jest's globalSetup: starts the servers that the project's specs can reach, for the whole run. `npm test`
// starts them once for all projects.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { builtApps } from './built-apps.ts';
import { type RequiredService, servicesOf } from './services-of.ts';
import stopServices, { stopLater } from './stop-services.ts';

const workspaceRoot = path.resolve(import.meta.dirname, '../..');

export default async function startServices(run: { rootDir: string; outputFile?: string }): Promise<void> {
  // Jest does not create the folder of --outputFile.
  if (run.outputFile !== undefined) await mkdir(path.dirname(run.outputFile), { recursive: true });

  process.env['BUILT_APPS'] = (await builtApps(run.rootDir, process.env)).join(',');
  await bringUp(await servicesOf(workspaceRoot, run.rootDir));
}

/** Starts the servers that do not run yet, and sets their addresses in the environment. */
export async function bringUp(services: ReadonlySet<RequiredService>): Promise<void> {
  try {
    if (services.has('postgres')) {
      // Creates the template database, from which each spec clones its own database. An existing server that
      // TEST_DATABASE_URL names keeps the template and the clones.
      const { provideTemplate } = await import('@muster/testing/template');
      await provideTemplate((process.env['TEST_DATABASE_URL'] ??= await startOwnPostgres()));
    }
    if (services.has('redis')) process.env['TEST_REDIS_URL'] ??= await findOrStartRedis();
  } catch (error) {
    // Jest runs no globalTeardown after a globalSetup that failed.
    await stopServices();
    throw error;
  }
}

async function startOwnPostgres(): Promise<string> {
  const { startPostgres } = await import('../dev/postgres.ts');
  // Specs move organizations between two of its databases, which needs logical replication.
  const postgres = await startPostgres({ durable: false, settings: { wal_level: 'logical' } });
  stopLater(postgres);
  return postgres.url;
}

/** Returns the Redis of REDIS_URL, as in CI, or starts one. */
async function findOrStartRedis(): Promise<string> {
  const { findGivenRedis, startRedis } = await import('../dev/redis.ts');
  const given = await findGivenRedis();
  if (given !== undefined) return given;
  const redis = await startRedis({ durable: false });
  stopLater(redis);
  return redis.url;
}
