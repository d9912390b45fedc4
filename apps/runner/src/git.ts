/** Runs git as a process. Arguments are arrays, git never prompts, and errors carry git's own output. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onOneLine } from '@muster/terminal';
import { usual } from './environment.ts';
import { forgeTokens, startedWith } from './secrets.ts';
import { requireTrustedConfig } from './trusted-config.ts';

/** The error of a failed git command. Its message has git's output. */
export class GitError extends Error {
  readonly code: number;
  readonly said: string;

  constructor(args: readonly string[], code: number, said: string) {
    super(`git ${args[0] ?? ''} failed (${code}): ${onOneLine(said).slice(-600)}`);
    this.code = code;
    this.said = said;
  }
}

export interface GitOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** The exit codes that are not errors. By default only 0 is not an error. */
  readonly answers?: readonly number[];
  readonly signal?: AbortSignal;
}

export interface GitAnswer {
  readonly code: number;
  readonly out: string;
}

export interface GitRunner {
  /** Runs git and returns its output without the last line break. */
  (args: readonly string[], options?: GitOptions): Promise<string>;
  readonly ask: (args: readonly string[], options?: GitOptions) => Promise<GitAnswer>;
}

/**
 * The folder in which git works. `gitDir` is set if git must not search for a repository itself, such as in
 * an agent's folder.
 */
export interface GitPlace {
  readonly folder: string;
  readonly gitDir?: string;
}

/** Environment variables that could send git to another repository. Git sets them while it runs a hook. */
const strayNames = new Set(['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX', 'GIT_COMMON_DIR']);

/** Commands that reach the remote, for which the person's credential helper may need their token. */
const remoteCommands = new Set(['fetch', 'push']);

const isListed = (name: string): boolean =>
  usual.includes(name) || (/^(GIT|SSH)_/.test(name) && !strayNames.has(name));

/**
 * Settings that disable hooks and file watchers. In a repository where an agent works they would run with the
 * rights of the runner.
 */
const neverRun = [
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'protocol.ext.allow=never',
  '-c',
  'submodule.recurse=false',
];

function environmentOf({ folder, gitDir }: GitPlace, command: string | undefined): NodeJS.ProcessEnv {
  const listed = Object.entries(process.env).filter(([name]) => isListed(name));
  const tokens = remoteCommands.has(command ?? '')
    ? forgeTokens.map((name) => [name, startedWith(name)] as const)
    : [];
  return {
    ...Object.fromEntries([...listed, ...tokens]),
    ...{ GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0' },
    GIT_SSH_COMMAND: process.env['GIT_SSH_COMMAND'] ?? 'ssh -oBatchMode=yes',
    ...(gitDir !== undefined && { GIT_DIR: gitDir, GIT_WORK_TREE: folder }),
  };
}

export function openGit(place: GitPlace): GitRunner {
  const ask: GitRunner['ask'] = async (args, { env = {}, input = '', answers = [0], signal } = {}) => {
    await requireTrustedConfig(place.gitDir);
    // Runs in its own process group, so that Ctrl-C does not interrupt a push and the runner can end in
    // order.
    const child = spawn('git', [...neverRun, ...args], {
      // Run git in the git directory. Git itself changes to the work tree, and reports an error if the work
      // tree is gone.
      cwd: place.gitDir ?? place.folder,
      env: { ...environmentOf(place, args[0]), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      ...(signal !== undefined && { signal }),
    });
    const out: Buffer[] = [];
    const said: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
    child.stdin.on('error', () => undefined).end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    const exit = code ?? 128;
    if (!answers.includes(exit)) throw new GitError(args, exit, Buffer.concat(said).toString());
    return { code: exit, out: Buffer.concat(out).toString() };
  };
  const run = async (args: readonly string[], options?: GitOptions): Promise<string> =>
    (await ask(args, options)).out.replace(/\n$/, '');
  return Object.assign(run, { ask });
}

/** Returns the names in the output of `git … -z`. */
export const namesIn = (text: string): string[] => text.split('\0').filter((name) => name !== '');
