/** A simulated machine with its own clone, on which `muster work` is started, killed and restarted. */
import { execFile, spawn } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { readRunner, type RunnerOutput, type RunnerEvent } from '@muster/testing/runner';

const run = promisify(execFile);

/** Returns an environment that ignores the settings of the real machine. */
const environment = (home: string): NodeJS.ProcessEnv => ({
  ...{ PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
  ...{ HOME: home, XDG_CONFIG_HOME: home, GIT_CONFIG_NOSYSTEM: '1' },
});

export const git = async (home: string, folder: string, ...args: string[]): Promise<string> =>
  (await run('git', args, { cwd: folder, env: environment(home), maxBuffer: 2 ** 26 })).stdout.trim();

/** Creates a bare repository with a first commit, and the author in git's configuration. */
export async function makeOrigin(home: string, config: string): Promise<string> {
  await writeFile(path.join(home, '.gitconfig'), '[user]\n\tname = Ana\n\temail = ana@example.com\n');
  const [origin, first] = [path.join(home, 'origin.git'), path.join(home, 'first')];
  await git(home, home, 'init', '--quiet', '--bare', '--initial-branch=main', origin);
  await git(home, home, 'init', '--quiet', '--initial-branch=main', first);
  await mkdir(path.join(first, '.muster'));
  await writeFile(path.join(first, '.muster/work.yaml'), config);
  await git(home, first, 'add', '.');
  await git(home, first, 'commit', '--quiet', '-m', 'Begin');
  await git(home, first, 'push', '--quiet', origin, 'main');
  return origin;
}

interface RunningProcess {
  readonly pid: number;
  readonly environ: string;
}

async function listRunningProcesses(): Promise<RunningProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(
    pids.map(async (pid) => {
      const environ = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
      return { pid: Number(pid), environ };
    }),
  );
  return all.filter(({ environ }) => environ !== '');
}

/** Lists the processes of agents and hooks that work on a story with `home` as their home folder. */
export const processesOf = async (home: string, key: string): Promise<number[]> =>
  (await listRunningProcesses())
    .filter(({ environ }) => {
      const variables = environ.split('\0');
      return variables.includes(`MUSTER_STORY=${key}`) && variables.includes(`HOME=${home}`);
    })
    .map(({ pid }) => pid);

export const kill = (pid: number, signal: NodeJS.Signals = 'SIGKILL'): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // The process ended by itself.
  }
};

export interface WorkingRunner extends RunnerOutput {
  readonly pid: number;
}

export interface RunnerMachine {
  readonly folder: string;
  /** The events of all runners of the machine, oldest first. */
  readonly told: readonly RunnerEvent[];
  start(args: readonly string[]): WorkingRunner;
  git(...args: string[]): Promise<string>;
}

export async function openMachine(
  { home, origin, main }: { home: string; origin: string; main: string },
  name: string,
  api: { readonly url: string; readonly token: string },
): Promise<RunnerMachine> {
  const folder = path.join(home, name, 'web');
  await git(home, home, 'clone', '--quiet', origin, folder);
  const all: RunnerEvent[] = [];
  const start = (args: readonly string[]): WorkingRunner => {
    const child = spawn(process.execPath, [main, 'work', ...args], {
      cwd: folder,
      env: { ...environment(home), MUSTER_BASE_URL: api.url, MUSTER_TOKEN: api.token },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    all.push({ story: null, event: 'start', message: args.slice(0, 3).join(' ') });
    return { ...readRunner(child, (one) => all.push(one)), pid: child.pid ?? 0 };
  };
  return { folder, told: all, start, git: (...args) => git(home, folder, ...args) };
}
