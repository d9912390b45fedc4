/** Runs git as a process. Arguments are arrays, git never prompts, and errors carry git's own output. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { sanitizeToOneLine } from '@muster/terminal';
import { inheritedVariables } from './inherited-variables.ts';
import { privateConfigEnvironment } from './private-config.ts';
import { forgeTokenVariables, originalEnvironmentValue } from './secrets.ts';
import { requireTrustedConfig } from './trusted-config.ts';

/** The error of a failed git command. Its message has git's output. */
export class GitError extends Error {
  readonly code: number;
  readonly stderr: string;

  constructor(args: readonly string[], code: number, stderr: string) {
    super(`git ${args[0] ?? ''} failed (${code}): ${sanitizeToOneLine(stderr).slice(-600)}`);
    this.code = code;
    this.stderr = stderr;
  }
}

export interface GitOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** The exit codes that are not errors. By default only 0 is not an error. */
  readonly allowedExitCodes?: readonly number[];
  readonly signal?: AbortSignal;
}

export interface GitOutput {
  readonly code: number;
  readonly stdout: string;
}

export interface GitRunner {
  /** Runs git and returns its output without the last line break. */
  (args: readonly string[], options?: GitOptions): Promise<string>;
  readonly ask: (args: readonly string[], options?: GitOptions) => Promise<GitOutput>;
}

/**
 * The folder in which git works. `gitDir` is set if git must not search for a repository itself, such as in
 * an agent's folder.
 */
export interface RepositoryLocation {
  readonly folder: string;
  readonly gitDir?: string;
  /** Starts git in the folder even if `gitDir` is set, as the relative path of a remote needs. */
  readonly startsInFolder?: boolean;
}

/** Environment variables that could send git to another repository. Git sets them while it runs a hook. */
const redirectingVariables = new Set([
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_PREFIX',
  'GIT_COMMON_DIR',
]);

/** Commands that reach the remote, for which the person's credential helper may need their token. */
const remoteCommands = new Set(['fetch', 'push']);

const isPassedToGit = (name: string): boolean =>
  inheritedVariables.includes(name) || (/^(GIT|SSH)_/.test(name) && !redirectingVariables.has(name));

/**
 * Settings that disable hooks and file watchers. In a repository where an agent works they would run with the
 * rights of the runner.
 */
const safeGitSettings = [
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'protocol.ext.allow=never',
  '-c',
  'submodule.recurse=false',
];

function gitEnvironment(
  { folder, gitDir }: RepositoryLocation,
  command: string | undefined,
): NodeJS.ProcessEnv {
  const listed = Object.entries(process.env).filter(([name]) => isPassedToGit(name));
  const tokens = remoteCommands.has(command ?? '')
    ? forgeTokenVariables.map((name) => [name, originalEnvironmentValue(name)] as const)
    : [];
  return {
    ...Object.fromEntries([...listed, ...tokens]),
    ...{ GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0' },
    GIT_SSH_COMMAND: process.env['GIT_SSH_COMMAND'] ?? 'ssh -oBatchMode=yes',
    ...privateConfigEnvironment(),
    ...(gitDir !== undefined && { GIT_DIR: gitDir, GIT_WORK_TREE: folder }),
  };
}

export function createGitRunner(location: RepositoryLocation): GitRunner {
  const ask: GitRunner['ask'] = async (
    args,
    { env = {}, input = '', allowedExitCodes = [0], signal } = {},
  ) => {
    await requireTrustedConfig(location.gitDir);
    // Runs in its own process group, so that Ctrl-C does not interrupt a push and the runner can end in
    // order.
    const child = spawn('git', [...safeGitSettings, ...args], {
      // Run git in the git directory. Git itself changes to the work tree, and reports an error if the work
      // tree is gone.
      cwd: location.startsInFolder === true ? location.folder : (location.gitDir ?? location.folder),
      env: { ...gitEnvironment(location, args[0]), ...env },
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
    if (!allowedExitCodes.includes(exit)) throw new GitError(args, exit, Buffer.concat(said).toString());
    return { code: exit, stdout: Buffer.concat(out).toString() };
  };
  const run = async (args: readonly string[], options?: GitOptions): Promise<string> =>
    (await ask(args, options)).stdout.replace(/\n$/, '');
  return Object.assign(run, { ask });
}

/** Returns the names in the output of `git … -z`. */
export const splitNullSeparated = (text: string): string[] => text.split('\0').filter((name) => name !== '');
