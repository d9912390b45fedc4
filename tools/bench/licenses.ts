/**
 * Activations and checks beside the bare statement over bare Fastify; and what the count of attempts in Redis and the
 * signatures take of that, each left out once, as an installation without Redis or without a signing key runs.
 */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { createPool } from '@muster/database';
import { type LoadRequest, startLoadProcess } from './load-process.ts';
import { type Bench, type Effort, measure, type Sample } from './measure.ts';
import { type Summary, summarize } from './report.ts';
import { type Services } from './services.ts';

const connections = 32;
const keysPerConnection = 16;
/** Node takes some thousand calls until it runs at its speed. */
const warmUpSeconds = 4;
/** Connections to Postgres of each server. */
const poolSize = '10';
/** Nobody is to be refused here; counting costs the same. */
const noLimit = '1000000/0.001';

type Path = 'activate' | 'check';

/** The goals of PERFORMANCE; what is left out is shown, not judged. */
const courses: readonly {
  readonly name: string;
  readonly path: Path;
  readonly side: Side;
  readonly goal: number | null;
}[] = [
  { name: 'licenses activate', path: 'activate', side: 'whole', goal: 0.55 },
  { name: 'licenses check', path: 'check', side: 'whole', goal: 0.6 },
  { name: 'licenses activate, counted in memory', path: 'activate', side: 'inMemory', goal: null },
  { name: 'licenses check, counted in memory', path: 'check', side: 'inMemory', goal: null },
  { name: 'licenses activate, unsigned', path: 'activate', side: 'unsigned', goal: null },
  { name: 'licenses check, unsigned', path: 'check', side: 'unsigned', goal: null },
];

type Side = 'whole' | 'inMemory' | 'unsigned';

interface Server {
  readonly url: string;
  readonly keys: readonly string[];
}

/** As the bare server has it: the same columns and indexes, one machine beside them, the key's hash made by Postgres. */
const bareTables = `
  create schema bare;
  create table bare.licenses (like licenses.licenses including all);
  alter table bare.licenses add column machine_hash bytea, add column bound_at timestamptz(3);
  insert into bare.licenses select * from licenses.licenses;
  analyze bare.licenses;
  analyze licenses.licenses`;

const bareServer = (services: Services, databaseUrl: string): Promise<string> =>
  services.bareServer('bare-licenses.ts', {
    ...{ DATABASE_URL: databaseUrl, DATABASE_POOL: poolSize },
  });

async function issueKeys(main: string, databaseUrl: string): Promise<string[]> {
  const cli = path.join(path.dirname(main), 'cli.js');
  const count = String(connections * keysPerConnection);
  const args = [cli, 'issue', '--plan', 'bench', '--for', '365d', '--count', count, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl },
  });
  const { licenses } = JSON.parse(stdout) as { licenses: { key: string }[] };
  return licenses.map(({ key }) => key);
}

/** Each connection has keys and machines of its own, as installers have. */
function lanesOf(keys: readonly string[], asked: Path): LoadRequest[][] {
  return Array.from({ length: connections }, (_, lane) =>
    keys
      .slice(lane * keysPerConnection, (lane + 1) * keysPerConnection)
      .map((licenseKey, index): LoadRequest => {
        const params = { licenseKey, machineId: `machine-${lane}-${index}` };
        if (asked === 'activate') {
          const headers = { 'content-type': 'application/json' };
          return { path: '/api/activate', headers, body: JSON.stringify(params) };
        }
        const query = new URLSearchParams(params).toString();
        return { path: `/api/activate/check?${query}`, method: 'GET', headers: {}, body: '' };
      }),
  );
}

/** An installation whose next signing key is not due yet, and which has no other. */
async function signNothing(url: string, databaseUrl: string): Promise<void> {
  const owner = createPool({ url: databaseUrl, role: null, max: 1 });
  await owner.query(`update licenses.signing_keys set active_from = now() + interval '1 year'`);
  await owner.end();
  // Services look at their keys every half a minute.
  for (let isSigned = true; isSigned;) {
    await pause(500);
    const answer = await fetch(`${url}/.well-known/license-keys.json`);
    await answer.arrayBuffer();
    isSigned = answer.headers.has('signature');
  }
}

export async function measureLicenses(
  services: Services,
  { rounds, seconds, say }: Effort,
): Promise<Summary[]> {
  say('Starting PostgreSQL (fsync on), Redis, and license-service');
  const postgres = await services.postgres();
  const redisUrl = await services.redis();
  const main = await services.bundle('license-service');
  const owner = services.owner(postgres.url);
  const start = async (databaseUrl: string, environment: Record<string, string>): Promise<Server> => {
    const service = await services.app('license-service', main, {
      ...{ DATABASE_URL: databaseUrl, DATABASE_POOL: poolSize },
      ...{ LIMIT_IP: noLimit, LIMIT_CHECK: noLimit, LIMIT_IP_FAIL: noLimit, LIMIT_KEY_FAIL: noLimit },
      ...environment,
    });
    return { url: service.url, keys: await issueKeys(main, databaseUrl) };
  };
  await owner.query('create database unsigned');
  const unsignedUrl = new URL(postgres.url);
  unsignedUrl.pathname = '/unsigned';
  const servers: Record<Side, Server> = {
    whole: await start(postgres.url, { REDIS_URL: redisUrl }),
    inMemory: await start(postgres.url, {}),
    unsigned: await start(unsignedUrl.href, { REDIS_URL: redisUrl }),
  };
  await signNothing(servers.unsigned.url, unsignedUrl.href);
  await owner.query(bareTables);
  const bare = await bareServer(services, postgres.url);
  const load = startLoadProcess();
  services.onStop(() => {
    load.stop();
  });
  const bench: Bench = { load, owner, postmaster: postgres.pid };
  const samples = courses.map((course) => ({ course, ours: [] as Sample[], theirs: [] as Sample[] }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { course, ours, theirs } of samples) {
      const { url, keys } = servers[course.side];
      const time = round === 0 ? Math.max(seconds, warmUpSeconds) : seconds;
      const mine = await measure(bench, course.name, url, lanesOf(keys, course.path), time);
      const bareLanes = lanesOf(servers.whole.keys, course.path);
      const others = await measure(bench, `bare, ${course.name}`, bare, bareLanes, time);
      // The first round warms up.
      if (round === 0) continue;
      ours.push(mine);
      theirs.push(others);
    }
    say(round === 0 ? 'Warmed up' : `Round ${round} of ${rounds}`);
  }
  return samples.map(({ course: { name, goal }, ours, theirs }) =>
    summarize({ ...{ name, goal, ours, theirs }, roundTrips: null }),
  );
}
