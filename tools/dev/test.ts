// npm test: lint, types and formatting of all files, tests and builds of every project. Lint and types read
// the whole workspace once; a run for each project, as in `nx affected`, takes five times as long. Nx shows
// each task as it finishes, and the whole output of a failed one. It begins with tasks that others wait for:
// `starts-first`, which does nothing, waits for the longest tasks, so that none of them runs alone at the
// end. The last line is `N passed, N failed`. `npx nx test <project>` tests one project, and `npx nx affected
// -t test` tests what a change touches. With `--all` the second tier runs as well: the specs named
// *.long.spec.ts. A table of the tasks with the most processor time precedes the last line.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { type RequiredService, servicesOf } from '../jest/services-of.ts';
import { bringUp } from '../jest/start-services.ts';
import stopServices from '../jest/stop-services.ts';
import { tally, type JestResults, type NxRun } from '../jest/tally.ts';
import { provideOptionalPrograms } from './optional-programs.ts';
import { findRedisProgram } from './redis-program.ts';
import { cpuSecondsOfChildren, timingsOf, timingTable } from './timings.ts';

const workspaceRoot = path.resolve(import.meta.dirname, '../..');
const nxRunFile = path.join(workspaceRoot, '.nx/cache/run.json');
/**
 * The cache is deleted at each run, because it would otherwise keep all old versions of bundles and other
 * programs.
 */
const compileCache = path.join(workspaceRoot, '.nx/compile-cache');
const resultsFolder = path.join(workspaceRoot, 'dist/test-results');
const timingsFolder = path.join(workspaceRoot, 'dist/timings');
const runsBothTiers = process.argv.includes('--all');
const started = Date.now();
/** The time limit. A connection that a spec leaves open makes Jest wait forever. */
const longestMinutes = 90;

/** Returns undefined if the file does not exist. */
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
      // Nx runs at most as many tasks at a time as there are cores, because specs of services under load need
      // the rest of the machine.
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
  // Nx ends its tasks, which end their servers, before it exits.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => nx.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    nx.once('error', reject);
    nx.once('exit', (code) => {
      if (nx.killed) console.error(`npm test: stopped, by a signal or after ${longestMinutes} minutes`);
      resolve(code ?? 1);
    });
  });
}

/** Returns the services that the specs of any project can reach. */
async function allServices(): Promise<Set<RequiredService>> {
  const all = new Set<RequiredService>();
  for (const folder of ['apps', 'libs'])
    for (const name of await readdir(path.join(workspaceRoot, folder)).catch(() => []))
      for (const service of await servicesOf(workspaceRoot, path.join(workspaceRoot, folder, name)))
        all.add(service);
  return all;
}

// Installs Redis before the tests, because two projects would otherwise install it at the same time.
if (process.env['REDIS_URL'] === undefined)
  await findRedisProgram((line) => console.log(line)).catch((error: unknown) => console.error(String(error)));

await provideOptionalPrograms((line) => console.log(line)).catch((error: unknown) =>
  console.error(String(error)),
);

// Results of an earlier run must not count for this one. Nx restores the results of cached tasks.
await rm(nxRunFile, { force: true });
// A process of an earlier run may still be writing to the cache, so a failed removal is retried.
await rm(compileCache, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
await rm(resultsFolder, { recursive: true, force: true });
await rm(timingsFolder, { recursive: true, force: true });
// If the servers fail to start, each project that needs them reports that.
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
