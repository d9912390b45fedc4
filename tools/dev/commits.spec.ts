import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { checkCommits } from './commits.ts';
import { repositoryRoot } from './repository.ts';

let folder: string;
let repository: string;

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.test', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();
const commit = (message: string): string => git(repository, 'commit', '--allow-empty', '-qm', message);

async function check(cwd: string): Promise<{ status: number; output: string }> {
  const printed: unknown[] = [];
  const print = (text: unknown) => void printed.push(text);
  const spies = (['log', 'error'] as const).map((name) =>
    jest.spyOn(console, name).mockImplementation(print),
  );
  try {
    return { status: await checkCommits(cwd), output: printed.join('\n') };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'commits-'));
  symlinkSync(path.join(repositoryRoot, 'node_modules'), path.join(folder, 'node_modules'));
  repository = path.join(folder, 'repository');
  mkdirSync(repository);
  git(repository, 'init', '-q', '-b', 'main');
  commit('A title of earlier days, which followed no convention and was as long as its author liked');
  copyFileSync(
    path.join(repositoryRoot, 'commitlint.config.js'),
    path.join(repository, 'commitlint.config.js'),
  );
  git(repository, 'add', '.');
  commit('build: check commit messages');
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

it('says that there is nothing to check without a repository, in a shallow clone and before a first commit', async () => {
  const archive = path.join(folder, 'archive');
  mkdirSync(archive);
  expect(await check(archive)).toMatchObject({
    status: 0,
    output: 'There is no git repository with commits here: no commit message to check.',
  });
  expect(await check(repository)).toMatchObject({
    status: 0,
    output: expect.stringContaining('No commit follows'),
  });
  git(folder, 'clone', '-q', '--depth=1', `file://${repository}`, 'shallow');
  expect(await check(path.join(folder, 'shallow'))).toMatchObject({
    status: 0,
    output: expect.stringContaining('No commit follows'),
  });
});

it('finds each title that breaks the rules, also on a detached HEAD, and leaves merges to git', async () => {
  commit('fix(board): keep the order of columns');
  git(repository, 'checkout', '-q', '--detach');
  expect(await check(repository)).toMatchObject({ status: 0 });
  git(repository, 'checkout', '-q', '-b', 'side');
  commit('Keep the order of columns');
  git(repository, 'checkout', '-q', 'main');
  commit(`fix(board): ${'long '.repeat(13)}title`);
  git(repository, 'merge', '-q', '--no-ff', '-m', 'All that was done on the side', 'side');
  const { status, output } = await check(repository);
  expect(status).toBe(1);
  expect(output).toContain('Checked 3 commit messages: 2 break the rules.');
  expect(output).toContain('Keep the order of columns');
  expect(output).toContain('long title');
  expect(output).not.toContain('done on the side');
  expect(output).not.toContain('earlier days');
});

it('runs as a hook of commits, and lets a commit pass where its packages or its rules are missing', () => {
  const { 'simple-git-hooks': hooks } = JSON.parse(
    readFileSync(path.join(repositoryRoot, 'package.json'), 'utf8'),
  ) as { 'simple-git-hooks': Record<string, string> };
  const message = path.join(folder, 'message');
  const runHook = (cwd: string, text: string): number | null => {
    writeFileSync(message, text);
    return spawnSync('sh', ['-c', hooks['commit-msg'] ?? 'false', 'hook', message], { cwd }).status;
  };
  expect(runHook(repositoryRoot, 'Keep the order of columns\n')).toBe(1);
  expect(runHook(repositoryRoot, 'fix(board): keep the order of columns\n')).toBe(0);
  expect(runHook(repository, 'Keep the order of columns\n')).toBe(0);
  expect(runHook(folder, 'Keep the order of columns\n')).toBe(0);
});
