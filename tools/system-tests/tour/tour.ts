// npm run tour -- [board.json]: a team's morning on a real board, and an afternoon of eight people with
// roles.
// npm run tour -- --mcp: a day of three agents and two people that only use MCP, in core mode, and its
// cost for a model.
// Both use the public API and check the results. They use the instance of `npm start`, in separate
// organizations, or a temporary instance if none is running here.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { readBoardFile } from '@muster/import-files/board-file';
import { exitCodeOf } from '@muster/tools';
import { type Check } from './check.ts';
import { findInstance, type Instance } from './instance.ts';
import { spendAgentDay } from './mcp/day.ts';
import { runTourDay } from './morning.ts';
import { show, showCheck } from './show.ts';

const usage = 'usage: npm run tour -- [board.json], or npm run tour -- --mcp';
const ownBoard = path.join(import.meta.dirname, 'board.json');

interface Plan {
  readonly title: string;
  readonly runPlan: (instance: Instance, orgSlug: string) => Promise<readonly Check[]>;
}

async function readPlan(): Promise<Plan> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { mcp: { type: 'boolean', default: false } },
  });
  const [given] = positionals;
  if (positionals.length > (values.mcp ? 0 : 1)) throw new Error(usage);
  if (values.mcp) return { title: 'by MCP alone', runPlan: spendAgentDay };
  // npm runs scripts in the root of the repository. A relative path refers to the caller's folder.
  const file = given === undefined ? ownBoard : path.resolve(process.env['INIT_CWD'] ?? '.', given);
  const boardFile = await readBoardFile(file);
  return {
    title: `with ${path.relative(process.cwd(), file)}`,
    runPlan: (instance, orgSlug) => runTourDay(instance, boardFile, orgSlug),
  };
}

async function run(): Promise<boolean> {
  const plan = await readPlan();
  const started = performance.now();
  const instance = await findInstance();
  try {
    const orgSlug = `tour-${randomBytes(4).toString('hex')}`;
    show(`Muster on tour ${plan.title}`);
    show(`${instance.baseUrl} (${instance.description}), organization ${orgSlug}`);
    show('');
    const checks = await plan.runPlan(instance, orgSlug);
    show('');
    for (const check of checks) showCheck(check);
    const failed = checks.filter(({ holds }) => !holds).length;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    show('');
    show(`${checks.length - failed} of ${checks.length} checks hold, in ${seconds} s`);
    if (failed > 0) show(['', 'Last log lines:', ...instance.tail().map((line) => `  ${line}`)].join('\n'));
    return failed === 0;
  } finally {
    await instance.stop();
  }
}

process.exitCode = await exitCodeOf(run());
