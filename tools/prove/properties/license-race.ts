/** Many machines race for each license over HTTP; and the same with a row that is read without being locked. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Pool } from '@muster/database';
import { programEnvironment } from '@muster/testing/environment';
import { repositoryRoot } from '../../dev/repository.ts';
import { startThrowAwayApp } from '../../dev/throw-away-app.ts';
import { type Property, type Report, type Scale, type Setting } from '../property.ts';
import { comesToBe } from '../site.ts';
import { type Removal, without } from '../guards.ts';
import { requireMet, startTap } from '../tap.ts';

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

/** Of half of the licenses one machine may be, of the others three. */
const slotsOfEach = [1, 3];

interface Sold {
  readonly key: string;
  readonly slots: number;
}

async function issueKeys(databaseUrl: string, slots: number, count: number): Promise<Sold[]> {
  const cli = path.join(repositoryRoot, 'apps/license-service/src/cli.ts');
  const args = [cli, 'issue', '--plan', 'race', '--for', '1d', '--count', String(count), '--json'];
  args.push('--machines', String(slots));
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...programEnvironment(), DATABASE_URL: databaseUrl },
  });
  const { licenses } = JSON.parse(stdout) as { licenses: { key: string }[] };
  return licenses.map(({ key }) => ({ key, slots }));
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

async function race({ scale, note, services }: Setting, removals: readonly Removal[]): Promise<Report> {
  const size = sizes[scale];
  const { url: databaseUrl, owner } = await services.database();
  const tap = await startTap(databaseUrl, removals);
  services.onStop(() => tap.stop());
  const service = await startThrowAwayApp('license-service', {
    log: 'warn',
    environment: { DATABASE_URL: tap.url, ...noLimits },
  });
  services.onStop(() => service.stop());
  const sold: Sold[] = [];
  for (const slots of slotsOfEach) {
    sold.push(...(await issueKeys(databaseUrl, slots, size.licenses / slotsOfEach.length)));
  }
  note(`${sold.length} licenses, ${size.activations} activations of ${size.machines} machines for each`);
  const violations: string[] = [];
  for (const [index, { key, slots }] of sold.entries()) {
    const [winners, strange] = await together(owner, () => raceFor(service.url, key, size));
    violations.push(...strange);
    if (winners.size !== slots)
      violations.push(`license ${index}: ${winners.size} machines were let in, and it has ${slots} slots`);
  }
  requireMet(tap);
  const { rows } = await owner.query<{ bound: number }>(
    `select count(*)::int as bound from licenses.license_events where kind = 'activated'`,
  );
  const bound = rows[0]?.bound ?? 0;
  const wanted = sold.reduce((sum, { slots }) => sum + slots, 0);
  if (bound !== wanted) violations.push(`${wanted} slots were bound ${bound} times`);
  return {
    violations,
    figures: { licenses: sold.length, activations: sold.length * size.activations, machines: size.machines },
  };
}

const unlocked = without('the license is locked');

export const licenseRace: Property = {
  name: 'license race',
  promise: 'If many machines activate the same license at once, exactly as many get it as it has slots.',
  run: (setting) => race(setting, []),
  controls: [
    {
      name: 'the row is read without a lock',
      leftTo: 'nx long',
      run: (setting) => race(setting, [unlocked]),
    },
  ],
};
