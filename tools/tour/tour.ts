// npm run tour -- [board.json]: a team's morning on a real board, and an afternoon of eight people with roles.
// npm run tour -- --delivery [--faults [seed]]: a day of two agents and a person who share the work under leases; with
// faults the worker, Redis, Postgres and the API are killed all the while.
// Both go through the API as everybody uses it, and check themselves. They run on the instance of `npm start`, in
// organizations of their own, else on one that they bring up.
import { randomBytes, randomInt } from 'node:crypto';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { readBoardFile } from '@muster/board-file';
import { type Check } from './check.ts';
import { spendDeliveryDay } from './delivery/day.ts';
import { bringUpFragile } from './delivery/fragile.ts';
import { findInstance } from './find-instance.ts';
import { type Instance } from './instance.ts';
import { spendDay } from './morning.ts';
import { show, showCheck } from './show.ts';

const usage = 'usage: npm run tour -- [board.json], or npm run tour -- --delivery [--faults [--seed number]]';
const ownBoard = path.join(import.meta.dirname, 'board.json');

/** What to do, where, and under which name. */
interface Plan {
  readonly title: string;
  readonly findInstance: () => Promise<Instance>;
  readonly spend: (instance: Instance, orgSlug: string) => Promise<readonly Check[]>;
}

async function readPlan(): Promise<Plan> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { delivery: { type: 'boolean' }, faults: { type: 'boolean' }, seed: { type: 'string' } },
  });
  const [given, ...more] = positionals;
  const { delivery = false, faults = false, seed } = values;
  const fits = delivery
    ? positionals.length === 0 && (seed === undefined || (faults && /^[0-9]{1,9}$/.test(seed)))
    : more.length === 0 && !faults && seed === undefined;
  if (!fits) throw new Error(usage);
  if (delivery && faults) {
    const chosen = seed === undefined ? randomInt(1_000_000_000) : Number(seed);
    const fragile = bringUpFragile(chosen);
    return {
      title: `with deliveries, while what it stands on is killed (--seed ${chosen})`,
      findInstance: async () => (await fragile).instance,
      spend: async (instance, orgSlug) => spendDeliveryDay(instance, orgSlug, (await fragile).beginFaults),
    };
  }
  if (delivery) return { title: 'with deliveries', findInstance, spend: spendDeliveryDay };
  // npm runs scripts in the root of the repository; a path is meant from where the person stands.
  const file = given === undefined ? ownBoard : path.resolve(process.env['INIT_CWD'] ?? '.', given);
  const boardFile = await readBoardFile(file);
  return {
    title: `with ${path.relative(process.cwd(), file)}`,
    findInstance,
    spend: (instance, orgSlug) => spendDay(instance, boardFile, orgSlug),
  };
}

async function run(): Promise<boolean> {
  const plan = await readPlan();
  const started = performance.now();
  const instance = await plan.findInstance();
  try {
    const orgSlug = `tour-${randomBytes(4).toString('hex')}`;
    show(`Muster on tour ${plan.title}`);
    show(`${instance.baseUrl} (${instance.is}), organization ${orgSlug}`);
    show('');
    const checks = await plan.spend(instance, orgSlug);
    show('');
    for (const check of checks) showCheck(check);
    const failed = checks.filter(({ holds }) => !holds).length;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    show('');
    show(`${checks.length - failed} of ${checks.length} checks hold, in ${seconds} s`);
    if (failed > 0)
      show(['', 'What the API said last:', ...instance.tail().map((line) => `  ${line}`)].join('\n'));
    return failed === 0;
  } finally {
    await instance.stop();
  }
}

process.exitCode = await run().then(
  (fine) => (fine ? 0 : 1),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  },
);
