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
    if (services.has('postgres')) {
      // Of which each spec's world has a clone. A server that an operator names gets one and keeps it, with the clones.
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
  // Organizations move between two of its databases.
  const postgres = await startPostgres({ durable: false, settings: { wal_level: 'logical' } });
  stopLater(postgres);
  return postgres.url;
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
