/**
 * Tests a database as it is deployed: an owner without superuser rights, the logins of tools/deploy/postgres,
 * and migrations as the images run them. The services must work with only the rights of their logins.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type IJob } from 'kubernetes-models/batch/v1';
import { type IScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import { createPool } from '@muster/driver';
import {
  type AppName,
  type Postgres,
  type Redis,
  repositoryRoot,
  startPostgres,
  startRedis,
  startThrowAwayApp,
  type ThrowAwayApp,
} from '@muster/tools';
import { type Environment } from './apps.ts';
import { readFolder } from './manifests.ts';
import { buildImage, type TrialImage } from './trial-image.ts';

const secret = 'a'.repeat(48);
const licenseSecrets = { LICENSE_PEPPER: secret, LICENSE_SEAL: secret };

let postgres: Postgres;
let redis: Redis;
let cli: TrialImage;
let licenses: TrialImage;

/** Does what psql does with the file: `\getenv` reads a variable, and `:'name'` is its value as a literal. */
async function runLogins(url: string): Promise<void> {
  const text = await readFile(path.join(repositoryRoot, 'tools/deploy/postgres/logins.sql'), 'utf8');
  const names = [...text.matchAll(/^\\getenv (\w+) [A-Z_]+$/gm)].map(([, name]) => name);
  const sql = text.replaceAll(/^\\.*$/gm, '').replaceAll(/:'(\w+)'/g, (_, name: string) => {
    if (!names.includes(name)) throw new Error(`${name} is not read from the environment`);
    return `'${secret}'`;
  });
  const pool = createPool({ url, role: null, max: 1 });
  try {
    await pool.query(sql);
  } finally {
    await pool.end();
  }
}

const urlOf = (user: string, password: string): string => {
  const url = new URL(postgres.url);
  return Object.assign(url, { username: user, password, pathname: '/muster' }).href;
};

beforeAll(async () => {
  [postgres, redis, cli, licenses] = await Promise.all([
    startPostgres({ durable: false }),
    startRedis({ durable: false }),
    buildImage('cli'),
    buildImage('license-service'),
  ]);
  const admin = createPool({ url: postgres.url, role: null, max: 1 });
  try {
    await admin.query(`create role muster login createrole password '${secret}'`);
    await admin.query('create database muster owner muster');
  } finally {
    await admin.end();
  }
  for (const url of Array.from({ length: 2 }, () => urlOf('muster', secret))) await runLogins(url);
}, 120_000);
afterAll(async () => {
  await Promise.all([postgres.stop(), redis.stop(), cli.remove(), licenses.remove()]);
});

const run = (image: TrialImage, words: readonly string[]) =>
  promisify(execFile)(process.execPath, words, {
    cwd: image.folder,
    env: { ...image.variables, ...licenseSecrets, DATABASE_URL: urlOf('muster', secret) },
  });

describe('the migrations of the images', () => {
  it('are done by one, when several start at once', async () => {
    const said = await Promise.all([1, 2, 3].map(() => run(cli, [...cli.entrypoint, ...cli.command])));
    const applied = said.map(({ stdout }) => stdout.match(/Applied/g)?.length ?? 0);
    expect(applied.filter((count) => count > 0)).toHaveLength(1);
  });

  it('are those of licenses where the license service is', async () => {
    const { manifests } = await readFolder('migrations');
    const jobs = manifests as unknown as IJob[];
    const job = jobs.find(({ metadata }) => metadata?.name === 'migrate-licenses');
    const words = job?.spec?.template.spec?.containers[0]?.command?.slice(1) ?? [];
    const said = await Promise.all([1, 2, 3].map(() => run(licenses, words)));
    expect(said.filter(({ stdout }) => stdout.includes('Applied 0001'))).toHaveLength(1);
  });
});

describe('with its own login', () => {
  const well = { checks: { postgres: 'ok' } };
  let running: ThrowAwayApp | undefined;
  afterEach(() => running?.stop());

  const start = async (app: AppName, user: string, environment: Environment = {}, main?: string) => {
    running = await startThrowAwayApp(app, {
      log: 'warn',
      ...(main !== undefined && { main }),
      environment: { DATABASE_URL: urlOf(user, secret), REDIS_URL: redis.url, ...environment },
    });
    return running;
  };

  it('the API is ready', async () => {
    const api = await start('coordination-api', 'coordination_api');
    expect(await (await fetch(`${api.url}/readyz`)).json()).toMatchObject(well);
  });

  it('the worker is ready, and shows the figure by which workers are scaled', async () => {
    const worker = await start('delivery-worker', 'delivery_worker', {
      ...{ BASE_URL: 'http://muster.example', SMTP_URL: 'smtp://127.0.0.1:1' },
    });
    expect(await (await fetch(`${worker.url}/readyz`)).json()).toMatchObject(well);
    const { manifests } = await readFolder('queue-depth');
    const [scaled] = manifests as unknown as IScaledObject[];
    const query = scaled?.spec.triggers[0]?.metadata['query'] ?? '';
    const [, label, name, filter] = /^sum\(max by \((\w+)\) \((\w+)\{(.+)\}\)\)$/.exec(query) ?? [];
    const metrics = await (await fetch(`${worker.metricsUrl}/metrics`)).text();
    const series = metrics
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) && line.includes(`${filter}`));
    expect(series.length).toBeGreaterThan(1);
    expect(series.filter((line) => !line.includes(`${label}="`))).toEqual([]);
  });

  it('the license service is ready, from its image', async () => {
    const main = path.join(licenses.folder, licenses.entrypoint.at(-1) ?? '');
    const service = await start('license-service', 'license_service', licenseSecrets, main);
    expect(await (await fetch(`${service.url}/readyz`)).json()).toMatchObject(well);
    // The log has no warnings, so the service tries nothing that its login may not do.
    expect(service.tail()).toEqual([]);
  });

  it('sign-in is ready', async () => {
    const signIn = await start('sign-in', 'sign_in', {
      ...{ BASE_URL: 'https://muster.example', SMTP_URL: 'smtp://127.0.0.1:1' },
    });
    expect(await (await fetch(`${signIn.url}/readyz`)).json()).toMatchObject(well);
  });

  it('none may do what is for the owner, or see what is for another', async () => {
    for (const user of ['coordination_api', 'delivery_worker', 'license_service', 'sign_in']) {
      const pool = createPool({ url: urlOf(user, secret), role: null, max: 1 });
      await expect(pool.query('create table public.mine (id int)')).rejects.toThrow(/permission denied/);
      const others =
        { license_service: 'public.orgs', sign_in: 'public.members' }[user] ?? 'sign_in.sessions';
      await expect(pool.query(`select from ${others}`)).rejects.toThrow(/permission denied/);
      await pool.end();
    }
  });
});
