/**
 * Activations and checks beside bare servers that do a step more each: from a constant answer to all that the promises
 * take, which is a statement that knows several machines, the signatures, and a count in Redis. What the service costs
 * beyond that is its own. Compared in processor time, of the server and of Postgres, which other work on the machine
 * moves less than rates.
 */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { type LoadRequest, startLoadProcess } from './load-process.ts';
import { type Bench, type Effort, measure, type Sample } from './measure.ts';
import { type Step, stepNames, steps } from './license-steps.ts';
import { median, verdict, whole } from './report.ts';
import { type Services } from './services.ts';

const connections = 32;
const keysPerConnection = 16;
/** Node takes some thousand calls until it runs at its speed. */
const warmUpSeconds = 4;
/** Connections to Postgres of each server. */
const poolSize = '10';
/** Nobody is to be refused here; counting costs the same. */
const noLimit = '1000000/0.001';

const paths = ['check', 'activate'] as const;
type Path = (typeof paths)[number];

type Side = Step | 'service';
const sides: readonly Side[] = [...steps, 'service'];

/** The least share of the bare server that does all of it, in processor time (docs/decisions/licenses.md). */
const goals: Readonly<Record<Path, number>> = { check: 0.7, activate: 0.5 };

/** As the bare server has it: the same columns and indexes, one machine beside them, the key's hash made by Postgres. */
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

/** Each connection has keys and machines of its own, as installers have. */
function lanesOf(keys: readonly string[], asked: Path): LoadRequest[][] {
  return Array.from({ length: connections }, (_, lane) =>
    keys
      .slice(lane * keysPerConnection, (lane + 1) * keysPerConnection)
      .map((licenseKey, index): LoadRequest => {
        const params = { licenseKey, machineId: `machine-${lane}-${index}` };
        // As every client sends one.
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

/** What one side takes for a request: medians over the rounds. */
export interface LicenseCost {
  readonly side: Side;
  readonly serverMicros: number;
  readonly postgresMicros: number | null;
  readonly rate: number;
  readonly p50: number;
}

export interface LicenseSummary {
  readonly path: Path;
  readonly costs: readonly LicenseCost[];
  /** Shares of the bare statement, in processor time: of the bare server that does all of it, and of the service. */
  readonly bareWithAll: number;
  readonly service: number;
  /** The service's share of the bare server that does all of it, the rounds' median and both ends. */
  readonly share: { readonly median: number; readonly min: number; readonly max: number };
  readonly goal: number;
}

const microsOf = ({
  serverMicros,
  postgresMicros,
}: Pick<Sample, 'serverMicros' | 'postgresMicros'>): number => serverMicros + (postgresMicros ?? 0);

function summarizePath(path: Path, samples: ReadonlyMap<Side, readonly Sample[]>): LicenseSummary {
  const of = (side: Side): readonly Sample[] => samples.get(side) ?? [];
  /** By the rounds' own ratios: all sides of a round ran next to each other. */
  const shares = (part: Side, whole: Side): number[] =>
    of(part).flatMap((sample, round) => {
      const other = of(whole)[round];
      return other === undefined ? [] : [microsOf(sample) / microsOf(other)];
    });
  const own = shares('counted', 'service');
  return {
    path,
    costs: sides.map((side) => ({
      side,
      serverMicros: median(of(side).map(({ serverMicros }) => serverMicros)),
      postgresMicros: median(of(side).map(({ postgresMicros }) => postgresMicros ?? 0)),
      rate: median(of(side).map(({ rate }) => rate)),
      p50: median(of(side).map(({ p50 }) => p50)),
    })),
    bareWithAll: median(shares('statement', 'counted')),
    service: median(shares('statement', 'service')),
    share: { median: median(own), min: Math.min(...own), max: Math.max(...own) },
    goal: goals[path],
  };
}

export async function measureLicenses(
  services: Services,
  { rounds, seconds, say }: Effort,
): Promise<LicenseSummary[]> {
  say('Starting PostgreSQL (fsync on), Redis, license-service, and the bare servers');
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
  const urls = new Map<Side, string>([['service', service.url]]);
  for (const step of steps)
    urls.set(step, await services.bareServer('bare-licenses.ts', { ...surroundings, STEP: step }));
  const load = startLoadProcess();
  services.onStop(() => {
    load.stop();
  });
  const bench: Bench = { load, owner, postmaster: postgres.pid };
  const samples = new Map(paths.map((path) => [path, new Map(sides.map((side) => [side, [] as Sample[]]))]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [path, ofPath] of samples) {
      for (const [side, ofSide] of ofPath) {
        const time = round === 0 ? Math.max(seconds, warmUpSeconds) : seconds;
        const url = urls.get(side) ?? '';
        const sample = await measure(bench, `${path}, ${side}`, url, lanesOf(keys, path), time);
        // The first round warms up.
        if (round > 0) ofSide.push(sample);
      }
    }
    // As autovacuum does in time: by now there are machines, of which Postgres knows nothing yet.
    if (round === 0) await owner.query('analyze');
    say(round === 0 ? 'Warmed up' : `Round ${round} of ${rounds}`);
  }
  return [...samples].map(([path, ofPath]) => summarizePath(path, ofPath));
}

const two = (value: number): string => value.toFixed(2);

const nameOf = (side: Side): string => (side === 'service' ? 'license-service' : stepNames[side]);

export function renderLicenses(summaries: readonly LicenseSummary[]): string {
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(34) : cell.padStart(13))).join('');
  return summaries
    .flatMap(({ path, costs, bareWithAll, service, share, goal }) => [
      line([path, 'CPU µs', 'Postgres µs', 'req/s', 'p50 ms']),
      ...costs.map(({ side, serverMicros, postgresMicros, rate, p50 }) =>
        line([nameOf(side), ...[whole(serverMicros), whole(postgresMicros ?? 0), whole(rate), two(p50)]]),
      ),
      `processor time, of the bare statement: ${two(bareWithAll)} bare with all of it, ${two(service)} the service`,
      `processor time, of bare with all of it: ${two(share.median)} (${two(share.min)}–${two(share.max)}), goal ≥ ${two(goal)} ${verdict(share.median >= goal)}`,
      '',
    ])
    .map((text) => `  ${text}`.trimEnd())
    .join('\n');
}
