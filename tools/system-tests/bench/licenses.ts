/**
 * Compares activations and checks with bare servers that each do one step more. The first returns a constant
 * answer. The last does everything that is promised: a statement that supports several machines, signatures,
 * and a count in Redis.
 */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { climb, type LadderSummary, startVariants } from './ladder.ts';
import { stepNames } from './license-steps.ts';
import { type LoadRequest } from './load-request.ts';
import { type Effort } from './measure.ts';
import { poolSize, type Services } from './services.ts';

const connections = 32;
const keysPerConnection = 16;
/** A rate limit that refuses no call of the benchmark. Counting costs the same with any limit. */
const noLimit = '1000000/0.001';

const paths = ['check', 'activate'] as const;
type Path = (typeof paths)[number];

/**
 * The lowest acceptable share of the last bare server's rate by processor time (docs/decisions/licenses.md).
 */
const goals: Readonly<Record<Path, number>> = { check: 0.7, activate: 0.5 };

/**
 * The bare server's tables: the same columns and indexes, with one machine in the license's row. Postgres
 * computes the key's hash.
 */
const bareTables = `
  create schema bare;
  create table bare.licenses (like licenses.licenses including all);
  alter table bare.licenses add column machine_hash bytea, add column bound_at timestamptz(3);
  insert into bare.licenses select * from licenses.licenses;
  create table bare.machines (like licenses.license_machines including all);
  analyze bare.licenses;
  analyze licenses.licenses`;

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

/**
 * Returns the requests of each connection. Each connection uses its own license keys and machines, as real
 * installers do.
 */
function lanesOf(keys: readonly string[], asked: Path): LoadRequest[][] {
  return Array.from({ length: connections }, (_, lane) =>
    keys
      .slice(lane * keysPerConnection, (lane + 1) * keysPerConnection)
      .map((licenseKey, index): LoadRequest => {
        const params = { licenseKey, machineId: `machine-${lane}-${index}` };
        // A nonce, which every client sends.
        const nonce = { 'license-nonce': `nonce-of-${lane}-${index}` };
        if (asked === 'activate') {
          const headers = { 'content-type': 'application/json', ...nonce };
          return { path: '/api/activate', headers, body: JSON.stringify(params) };
        }
        const query = new URLSearchParams(params).toString();
        return { path: `/api/activate/check?${query}`, method: 'GET', headers: nonce, body: '' };
      }),
  );
}

export async function measureLicenses(services: Services, effort: Effort): Promise<LadderSummary[]> {
  effort.say('Starting PostgreSQL (fsync on), Redis, license-service, and the bare servers');
  const postgres = await services.postgres();
  const redisUrl = await services.redis();
  const main = await services.bundle('license-service');
  const owner = services.owner(postgres.url);
  const surroundings = { DATABASE_URL: postgres.url, DATABASE_POOL: poolSize, REDIS_URL: redisUrl };
  const service = await services.app('license-service', main, {
    ...surroundings,
    ...{ LIMIT_IP: noLimit, LIMIT_CHECK: noLimit, LIMIT_IP_FAIL: noLimit, LIMIT_KEY_FAIL: noLimit },
  });
  const keys = await issueKeys(main, postgres.url);
  await owner.query(bareTables);
  const bare = await startVariants(services, 'bare-licenses.ts', stepNames, surroundings);
  const bench = await services.bench(owner, postgres);
  const asked = paths.map((path) => ({ name: path, lanes: lanesOf(keys, path), goal: goals[path] }));
  const ladder = { bare, service: { name: 'license-service', url: service.url }, asked };
  return climb(bench, { ...ladder, statement: stepNames.statement }, effort, async () => {
    // Updates Postgres' statistics, as autovacuum would do later. The machines were just created.
    await owner.query('analyze');
  });
}
