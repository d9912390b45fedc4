// npm test: lint, types and formatting of all files, tests and builds of every project. Lint and types read the whole
// workspace once, where `nx affected` goes by project: all of them one after the other take five times as long. Nx shows
// each task as it finishes, and everything a failed one said. It begins with tasks that others wait for: `starts-first`, which
// does nothing, waits for the longest, so that none of them is alone at the end. The last line is `N passed, N failed`. One
// project alone is `npx nx test <project>`, what a change touches `npx nx affected -t test`. With `--all` the second tier runs
// as well: the specs named *.long.spec.ts. A table of what took the most processor time stands above the last line.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { type Service, servicesOf } from '../jest/services-of.ts';
import { bringUp } from '../jest/start-services.ts';
import stopServices from '../jest/stop-services.ts';
import { tally, type JestResults, type NxRun } from '../jest/tally.ts';
import { provideOptionalPrograms } from './optional-programs.ts';
import { findRedisProgram } from './redis-program.ts';
import { cpuSecondsOfChildren, timingsOf, timingTable } from './timings.ts';

const workspaceRoot = path.resolve(import.meta.dirname, '../..');
const nxRunFile = path.join(workspaceRoot, '.nx/cache/run.json');
/** Of programs that are changed at each run, such as bundles, it would keep all. */
const compileCache = path.join(workspaceRoot, '.nx/compile-cache');
const resultsFolder = path.join(workspaceRoot, 'dist/test-results');
const timingsFolder = path.join(workspaceRoot, 'dist/timings');
const runsBothTiers = process.argv.includes('--all');
const started = Date.now();
/** A connection that a spec leaves open makes Jest wait for ever. */
const longestMinutes = 90;

/** Undefined where nothing was written. */
function readJson(file: string): unknown {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

async function runNx(): Promise<number> {
  const nx = spawn(
    process.execPath,
    [
      path.join(workspaceRoot, 'node_modules/nx/dist/bin/nx.js'),
      'run-many',
      `--targets=lint-all,typecheck-all,test,${runsBothTiers ? 'long,' : ''}build,format,starts-first`,
      // No more than cores: what is promised of a service under load is tried on what the others leave of the machine.
      `--parallel=${availableParallelism()}`,
    ],
    {
      cwd: workspaceRoot,
      env: {
        ...(process.stdout.isTTY ? {} : { FORCE_COLOR: '0' }),
        ...process.env,
        NX_CACHE_DIRECTORY: path.dirname(nxRunFile),
        NODE_COMPILE_CACHE: compileCache,
      },
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: longestMinutes * 60_000,
    },
  );
  // Nx ends its tasks, and they their servers, before it goes.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => nx.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    nx.once('error', reject);
    nx.once('exit', (code) => {
      if (nx.killed) console.error(`npm test: stopped, by a signal or after ${longestMinutes} minutes`);
      resolve(code ?? 1);
    });
  });
}

/** What the specs of any project can reach. */
async function allServices(): Promise<Set<Service>> {
  const all = new Set<Service>();
  for (const folder of ['apps', 'libs'])
    for (const name of await readdir(path.join(workspaceRoot, folder)).catch(() => []))
      for (const service of await servicesOf(workspaceRoot, path.join(workspaceRoot, folder, name)))
        all.add(service);
  return all;
}

// Two projects would otherwise find Redis missing at once, and both install it.
if (process.env['REDIS_URL'] === undefined) {
  await findRedisProgram((line) => console.log(line)).catch((error: unknown) => console.error(String(error)));
}

await provideOptionalPrograms((line) => console.log(line)).catch((error: unknown) =>
  console.error(String(error)),
);

// What an earlier run left must not be counted for this one; of cached tasks Nx brings the results back.
await rm(nxRunFile, { force: true });
// A process of an earlier run may still be writing.
await rm(compileCache, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
await rm(resultsFolder, { recursive: true, force: true });
await rm(timingsFolder, { recursive: true, force: true });
// Where they do not come up, each project that needs them says so.
await allServices()
  .then(bringUp)
  .catch((error: unknown) => console.error(String(error)));
let exitCode = 1;
try {
  exitCode = await runNx();
} finally {
  await stopServices();
}
const run = readJson(nxRunFile) as NxRun | undefined;
const resultsOf = (projectName: string, target: string): JestResults | undefined =>
  readJson(path.join(resultsFolder, `${projectName}${target === 'long' ? '.long' : ''}.json`)) as
    | JestResults
    | undefined;
const { passed, failed, complaints } = tally(run, exitCode, resultsOf);
if (run !== undefined) {
  const timings = timingsOf(run, timingsFolder, resultsOf);
  const wallSeconds = (Date.now() - started) / 1_000;
  const cpuSeconds = cpuSecondsOfChildren();
  await mkdir(timingsFolder, { recursive: true });
  await writeFile(
    path.join(timingsFolder, 'timings.json'),
    `${JSON.stringify({ wallSeconds, cpuSeconds, tasks: timings }, undefined, 2)}\n`,
  );
  console.log(timingTable(timings, wallSeconds, cpuSeconds));
}
for (const complaint of complaints) console.error(`npm test: ${complaint}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
