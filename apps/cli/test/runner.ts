/** Runs `muster work` as a process in a clone of a bare repository, with agents that are shell scripts. */
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from '@jest/globals';
import { programEnvironment } from '@muster/testing';
import { readRunner, type RunnerEvent } from '@muster/testing/runner';
import { mainFile } from './muster.ts';

const run = promisify(execFile);

export interface StartedRunner {
  /** The events so far. */
  readonly receivedEvents: readonly RunnerEvent[];
  /** Resolves with the first matching event since the start. */
  waitForEvent(event: string, message?: RegExp): Promise<RunnerEvent>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Stops reading the runner's output, as if the reader had gone. */
  readonly leave: () => void;
  /** Resolves with the exit code, or with null if a signal ended the runner. */
  readonly ended: Promise<number | null>;
}

export interface Clone {
  readonly folder: string;
  git(...args: string[]): Promise<string>;
}

export interface TestRunner {
  /** Returns the path of the bare repository to which clones push. */
  readonly origin: () => string;
  /** Runs git in the bare repository. */
  git(...args: string[]): Promise<string>;
  clone(): Promise<Clone>;
  /** Creates a folder for the spec. */
  folder(): Promise<string>;
  start(clone: Clone, args: readonly string[], env: Readonly<Record<string, string>>): StartedRunner;
}

/**
 * Disables garbage collection for these short-lived repositories. Git would start a process for it after each
 * fetch and push.
 */
const gitConfig = `
[user]
  name = Spec
  email = spec@example.com
[gc]
  auto = 0
[maintenance]
  auto = false
[receive]
  autoGc = false
`;

/** Ignores the git settings of the machine. */
const noSystemGitConfig = { GIT_CONFIG_NOSYSTEM: '1' };

/** Returns true if a process lives. A zombie does not count. */
export async function isProcessAlive(pid: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
}

const git = async (folder: string, ...args: string[]): Promise<string> =>
  (
    await run('git', ['-c', 'user.name=Spec', '-c', 'user.email=spec@example.com', ...args], {
      cwd: folder,
      env: { ...programEnvironment(), ...noSystemGitConfig },
    })
  ).stdout.trim();

/** Creates a bare repository with one commit on main, whose `.muster/work.yaml` is `config`. */
export function useRunner(config: string): TestRunner {
  let home = '';
  let clones = 0;
  beforeAll(async () => {
    home = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-work-')));
    await writeFile(path.join(home, '.gitconfig'), gitConfig);
    await git(home, 'init', '--quiet', '--bare', '--initial-branch=main', 'origin.git');
    await git(home, 'clone', '--quiet', 'origin.git', 'first');
    const first = path.join(home, 'first');
    await mkdir(path.join(first, '.muster'));
    await writeFile(path.join(first, '.muster/work.yaml'), config);
    await writeFile(path.join(first, 'readme.md'), 'Sign in\n');
    await git(first, 'switch', '--quiet', '-c', 'main').catch(() => undefined);
    await git(first, 'add', '.');
    await git(first, 'commit', '--quiet', '-m', 'Begin');
    await git(first, 'push', '--quiet', 'origin', 'main');
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  const origin = (): string => path.join(home, 'origin.git');
  return {
    origin,
    git: (...args) => git(origin(), ...args),
    clone: async () => {
      clones += 1;
      const folder = path.join(home, `clone-${clones}`, 'web');
      await git(home, 'clone', '--quiet', 'origin.git', folder);
      return { folder, git: (...args) => git(folder, ...args) };
    },
    folder: () => mkdtemp(path.join(home, 'folder-')),
    start: (clone, args, env) =>
      start(clone.folder, args, { HOME: home, XDG_CONFIG_HOME: home, ...noSystemGitConfig, ...env }),
  };
}

function start(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): StartedRunner {
  const [options, command] = args.includes('--')
    ? [args.slice(0, args.indexOf('--')), args.slice(args.indexOf('--'))]
    : [args, []];
  const child = spawn(process.execPath, [mainFile, 'work', ...options, '--json', ...command], {
    cwd: folder,
    env: { ...programEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = readRunner(child);
  return {
    ...{ receivedEvents: output.events, ended: output.exitCode },
    kill: (signal) => void child.kill(signal),
    leave: () => void child.stdout.destroy(),
    waitForEvent: async (event, message) => {
      const found = await output.waitFor(event, message);
      if (found !== undefined) return found;
      const all = output.events.map((one) => JSON.stringify(one)).join('\n');
      throw new Error(`it ended without ${event}:\n${all}`);
    },
  };
}
