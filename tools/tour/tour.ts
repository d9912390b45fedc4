// npm run tour -- [board.json]: a team's morning on a real board, and an afternoon of eight people with roles.
// npm run tour -- --delivery [--faults [seed]]: a day of two agents and a person who share the work under leases; with
// faults the worker, Redis, Postgres and the API are killed all the while.
// npm run tour -- --delivery --runner: three runners and a person on one board, with a repository and agents of its own.
// npm run tour -- --mcp: a day of two agents by MCP alone, in core mode, and what it costs a model.
// All go through what everybody uses, and check themselves. They run on the instance of `npm start`, in
// organizations of their own, else on one that they bring up.
import { randomBytes, randomInt } from 'node:crypto';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { readBoardFile } from '@muster/board-file';
import { type Check } from './check.ts';
import { spendDeliveryDay } from './delivery/day.ts';
import { bringUpFragile } from './delivery/fragile.ts';
import { startThrowAwayApp } from '../dev/throw-away-app.ts';
import { findInstance } from './find-instance.ts';
import { type Instance } from './instance.ts';
import { spendAgentDay } from './mcp/day.ts';
import { spendDay } from './morning.ts';
import { spendRunnerDay } from './runner/day.ts';
import { show, showCheck } from './show.ts';

const usage =
  'usage: npm run tour -- [board.json], or npm run tour -- --mcp, or npm run tour -- --delivery [--runner | --faults [--seed number]]';
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
    options: {
      ...{ delivery: { type: 'boolean' }, faults: { type: 'boolean' }, mcp: { type: 'boolean' } },
      runner: { type: 'boolean' },
      seed: { type: 'string' },
    },
  });
  const [given, ...more] = positionals;
  const { delivery = false, faults = false, mcp = false, runner = false, seed } = values;
  const fits = mcp
    ? positionals.length === 0 && !delivery && !runner && !faults && seed === undefined
    : delivery
      ? positionals.length === 0 &&
        !(runner && faults) &&
        (seed === undefined || (faults && /^[0-9]{1,9}$/.test(seed)))
      : more.length === 0 && !runner && !faults && seed === undefined;
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
  if (mcp) return { title: 'by MCP alone', findInstance, spend: spendByMcp };
  if (runner) return { title: 'with three runners', findInstance, spend: spendRunnerDay };
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

/** Through the gateway of the instance, else through one of our own. */
async function spendByMcp(instance: Instance, orgSlug: string): Promise<readonly Check[]> {
  if (instance.mcpUrl !== null) return spendAgentDay(instance, orgSlug, instance.mcpUrl);
  const gateway = await startThrowAwayApp('mcp-gateway', {
    log: 'warn',
    environment: { COORDINATION_API_URL: instance.baseUrl },
  });
  try {
    return await spendAgentDay(instance, orgSlug, `${gateway.url}/api/mcp`);
  } finally {
    await gateway.stop();
  }
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
