// npm run test:changed: runs the second tier of tests for recent changes. These are the `long` targets of
// projects whose own files changed since the newest commit older than 24 hours, without their dependents. In
// tools/ only the folders that changed are tested. It runs as many at a time as there are cores and starts none
// after 20 minutes. Then it lists those that are left to the jobs on main.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createProjectGraphAsync } from '@nx/devkit';
import { changedFolders } from './changed-folders.ts';
import { repositoryRoot } from './repository.ts';

const limitMs = 20 * 60_000;
const deadline = Date.now() + limitMs;

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: repositoryRoot, encoding: 'utf8' }).trim();

/**
 * The newest commit from more than 24 hours ago, or the first commit if the history is younger or shallow.
 */
const base =
  git('rev-list', '-1', '--before=24 hours ago', 'HEAD') ||
  (git('rev-list', '--max-parents=0', 'HEAD').split('\n').at(-1) ?? 'HEAD');
const changed = git('diff', '--name-only', base, 'HEAD').split('\n');

const { nodes } = await createProjectGraphAsync();
const projects = Object.values(nodes).filter(({ data }) => data.targets?.['long'] !== undefined);
const rootOf = changedFolders(
  changed,
  projects.map(({ data }) => data.root),
  (root) => root.startsWith('tools') && globSync(`${root}/*.spec.ts`, { cwd: repositoryRoot }).length === 0,
);
const folders = [...rootOf.keys()]
  .filter((folder) => globSync(`${folder}/**/*.long.spec.ts`, { cwd: repositoryRoot }).length > 0)
  .toSorted();

const waiting = [...folders];
const failed: string[] = [];

/** Runs one target and prints all its output when it has ended, so that concurrent outputs do not mix. */
async function runLong(folder: string): Promise<void> {
  const started = Date.now();
  const root = rootOf.get(folder);
  const project = projects.find(({ data }) => data.root === root)?.name ?? folder;
  const part = folder === root ? [] : [`--args=${folder}/`];
  const nx = spawn('npx', ['nx', 'run', `${project}:long`, ...part], { cwd: repositoryRoot, stdio: 'pipe' });
  const said: Buffer[] = [];
  for (const stream of [nx.stdout, nx.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk));
  const [code] = (await once(nx, 'close')) as [number | null];
  if (code !== 0) failed.push(folder);
  const minutes = ((Date.now() - started) / 60_000).toFixed(1);
  console.log(code === 0 ? `passed  ${folder}, ${minutes} minutes` : Buffer.concat(said).toString());
}

async function runWaiting(): Promise<void> {
  while (Date.now() < deadline) {
    const folder = waiting.shift();
    if (folder === undefined) return;
    await runLong(folder);
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
if (waiting.length > 0) console.log(`The time is up; left to the jobs on main: ${waiting.join(', ')}`);
console.log(
  `Second tier of ${folders.length - waiting.length} changed projects and folders: ${failed.length === 0 ? 'passed' : `failed: ${failed.join(', ')}`}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
