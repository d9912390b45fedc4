// The second tier of tests for what changed lately: the `long` targets of projects whose own files changed since the newest
// commit older than 24 hours, not of their dependents. It begins no project after 20 minutes, and then says which are left to the
// jobs on main. What fails is run once more, alone, and fails the command when it fails again.
import { execFileSync, spawnSync } from 'node:child_process';
import { createProjectGraphAsync } from '@nx/devkit';
import { repositoryRoot } from './repository.ts';

const limitMs = 20 * 60_000;
const deadline = Date.now() + limitMs;

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: repositoryRoot, encoding: 'utf8' }).trim();

/** The state of main a day ago; the first commit where the history is younger, or shallow. */
const base =
  git('rev-list', '-1', '--before=24 hours ago', 'HEAD') ||
  (git('rev-list', '--max-parents=0', 'HEAD').split('\n').at(-1) ?? 'HEAD');
const changed = git('diff', '--name-only', base, 'HEAD').split('\n');

const { nodes } = await createProjectGraphAsync();
const projects = Object.values(nodes)
  .filter(({ data }) => data.targets?.['long'] !== undefined)
  .filter(({ data }) => changed.some((file) => file.startsWith(`${data.root}/`)))
  .map(({ name }) => name)
  .toSorted();

/** True where the target of this project passed, also at its second try. */
function passes(project: string): boolean {
  const attempt = (): boolean =>
    spawnSync('npx', ['nx', 'run', `${project}:long`], { cwd: repositoryRoot, stdio: 'inherit' }).status ===
    0;
  if (attempt()) return true;
  console.log(`${project}:long failed. Once more:`);
  return attempt();
}

const failed: string[] = [];
const left: string[] = [];
for (const project of projects) {
  if (Date.now() >= deadline) left.push(project);
  else if (!passes(project)) failed.push(project);
}
if (left.length > 0) console.log(`The time is up; left to the jobs on main: ${left.join(', ')}`);
console.log(
  `Second tier of ${projects.length - left.length} changed projects: ${failed.length === 0 ? 'passed' : `failed: ${failed.join(', ')}`}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
