/** Many machines race for each license over HTTP; and the same with a row that is read without being locked. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Pool } from '@muster/database';
import { repositoryRoot } from '../../dev/repository.ts';
import { startThrowAwayApp } from '../../dev/throw-away-app.ts';
import { type Property, type Report, type Scale, type Setting } from '../property.ts';
import { comesToBe } from '../site.ts';
import { requireMet, type Rewrite, startTap } from '../tap.ts';

interface Size {
  readonly licenses: number;
  readonly machines: number;
  /** Of all machines together, for each license. */
  readonly activations: number;
}

const sizes: Readonly<Record<Scale, Size>> = {
  short: { licenses: 12, machines: 8, activations: 16 },
  long: { licenses: 200, machines: 25, activations: 50 },
};

/** Nobody is slowed down: they are to meet. */
const noLimit = '1000000/0.001';
const noLimits = { LIMIT_IP: noLimit, LIMIT_CHECK: noLimit, LIMIT_IP_FAIL: noLimit, LIMIT_KEY_FAIL: noLimit };

async function issueKeys(databaseUrl: string, count: number): Promise<string[]> {
  const cli = path.join(repositoryRoot, 'apps/license-service/src/cli.ts');
  const args = [cli, 'issue', '--plan', 'race', '--for', '1d', '--count', String(count), '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl },
  });
  const { licenses } = JSON.parse(stdout) as { licenses: { key: string }[] };
  return licenses.map(({ key }) => key);
}

/**
 * With the rows of the licenses locked until three activations wait for theirs, two of them of different machines: so
 * that they meet whatever the machine does.
 */
async function together<Result>(owner: Pool, start: () => Promise<Result>): Promise<Result> {
  const holder = await owner.connect();
  try {
    await holder.query('begin');
    await holder.query('select from licenses.licenses for update');
    const outcome = start();
    const met = await comesToBe(async () => {
      const { rows } = await owner.query<{ met: boolean }>(
        `select count(*) > 2 as met from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0]?.met === true;
    }, 20_000);
    await holder.query('rollback');
    const result = await outcome;
    if (!met) throw new Error('the machines never met at a license');
    return result;
  } finally {
    holder.release(true);
  }
}

const activate = (url: string, activation: { licenseKey: string; machineId: string }) =>
  fetch(`${url}/api/activate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(activation),
  });

/** The machines that were let in; violations for answers that no race has. */
async function raceFor(url: string, licenseKey: string, size: Size): Promise<[Set<string>, string[]]> {
  const winners = new Set<string>();
  const strange: string[] = [];
  await Promise.all(
    Array.from({ length: size.activations }, async (_, index) => {
      const machineId = `machine-${index % size.machines}`;
      let answer = await activate(url, { licenseKey, machineId });
      // Who waits for the row for longer than the service does is told to ask again.
      for (let again = 0; answer.status === 503 && again < 20; again += 1) {
        await answer.text();
        answer = await activate(url, { licenseKey, machineId });
      }
      const text = await answer.text();
      if (answer.status === 200) winners.add(machineId);
      else if (answer.status !== 409) strange.push(`a machine was answered ${answer.status}: ${text}`);
    }),
  );
  return [winners, strange];
}

async function race({ scale, note, services }: Setting, rewrites: readonly Rewrite[]): Promise<Report> {
  const size = sizes[scale];
  const { url: databaseUrl, owner } = await services.database();
  const tap = await startTap(databaseUrl, rewrites);
  services.onStop(() => tap.stop());
  const service = await startThrowAwayApp('license-service', {
    log: 'warn',
    environment: { DATABASE_URL: tap.url, ...noLimits },
  });
  services.onStop(() => service.stop());
  const keys = await issueKeys(databaseUrl, size.licenses);
  note(`${keys.length} licenses, ${size.activations} activations of ${size.machines} machines for each`);
  const violations: string[] = [];
  for (const [index, key] of keys.entries()) {
    const [winners, strange] = await together(owner, () => raceFor(service.url, key, size));
    violations.push(...strange);
    if (winners.size !== 1) violations.push(`license ${index}: ${winners.size} machines were let in`);
  }
  requireMet(tap);
  const { rows } = await owner.query<{ bound: number }>(
    `select count(*)::int as bound from licenses.license_events where kind = 'activated'`,
  );
  const bound = rows[0]?.bound ?? 0;
  if (bound !== keys.length) violations.push(`${keys.length} licenses were bound ${bound} times`);
  return {
    violations,
    figures: { licenses: keys.length, activations: keys.length * size.activations, machines: size.machines },
  };
}

export const licenseRace: Property = {
  name: 'license race',
  promise: 'Of many machines that activate the same license at once exactly one gets it.',
  run: (setting) => race(setting, []),
  controls: [
    {
      name: 'the row is read without a lock',
      run: (setting) => race(setting, [{ find: 'for no key update', put: '', where: 'license_denials' }]),
    },
  ],
};
