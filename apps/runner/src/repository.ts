/** The repository in which the runner was started: its folder, its base branch and its remote. */
import path from 'node:path';
import { UsageError } from '@muster/terminal';
import { type WorkConfig, configFile, parseConfig } from './config.ts';
import { type GitRunner, GitError, splitNullSeparated, createGitRunner } from './git.ts';

export interface Repository {
  /** The checkout in which the runner was started. */
  readonly checkoutFolder: string;
  /** The git directory of that checkout. */
  readonly gitDir: string;
  /** The git folder that all worktrees share. */
  readonly commonDir: string;
  /** The name of the remote. Undefined if there is no remote; branches and checkpoints then stay local. */
  readonly remote: string | undefined;
  readonly git: GitRunner;
}

export interface BaseCommit {
  readonly name: string;
  readonly sha: string;
}

export async function findRepository(folder: string, remoteName?: string): Promise<Repository> {
  const place = createGitRunner({ folder });
  const found = await place([
    'rev-parse',
    '--path-format=absolute',
    '--show-toplevel',
    '--git-common-dir',
    '--absolute-git-dir',
  ]).catch((error: unknown) => {
    if (error instanceof GitError) throw new UsageError(`${folder} is not in a git repository`);
    throw (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? new UsageError('git is not installed, or the folder no longer exists')
      : error;
  });
  const [top = '', commonDir = '', gitDir = ''] = found.split('\n');
  const git = createGitRunner({ folder: top, gitDir, startsInFolder: true });
  const remotes = (await git(['remote'])).split('\n').filter((name) => name !== '');
  if (remoteName !== undefined && !remotes.includes(remoteName))
    throw new UsageError(
      `the remote "${remoteName}" does not exist; remotes: ${remotes.join(', ') || 'none'}`,
    );
  const remote = remoteName ?? (remotes.includes('origin') ? 'origin' : remotes[0]);
  return { checkoutFolder: top, gitDir, commonDir, remote, git };
}

/**
 * Returns the name of the branch into which work is merged: the remote's default branch, or else the branch
 * that is checked out.
 */
async function detectBaseName({ git, remote }: Repository): Promise<string> {
  if (remote !== undefined) {
    const { code, stdout } = await git.ask(['symbolic-ref', '--short', `refs/remotes/${remote}/HEAD`], {
      allowedExitCodes: [0, 1, 128],
    });
    if (code === 0) return stdout.trim().slice(remote.length + 1);
  }
  const { code, stdout: out } = await git.ask(['symbolic-ref', '--short', 'HEAD'], {
    allowedExitCodes: [0, 1, 128],
  });
  if (code !== 0) throw new UsageError('the base branch is unknown; give --base');
  return out.trim();
}

const commitOf = async (git: GitRunner, name: string): Promise<string | undefined> => {
  const { code, stdout } = await git.ask(['rev-parse', '--verify', '--quiet', `${name}^{commit}`], {
    allowedExitCodes: [0, 1, 128],
  });
  return code === 0 ? stdout.trim() : undefined;
};

/**
 * Finds the current base commit at the remote. If the remote does not answer, the last fetched commit is
 * used.
 */
export async function findBaseCommit(
  repository: Repository,
  baseName: string | undefined,
  warn: (line: string) => void,
): Promise<BaseCommit> {
  const { git, remote } = repository;
  const name = baseName ?? (await detectBaseName(repository));
  if (remote !== undefined)
    await git([
      'fetch',
      '--quiet',
      '--no-tags',
      '--no-recurse-submodules',
      remote,
      `+refs/heads/${name}:refs/remotes/${remote}/${name}`,
    ]).catch((error: unknown) => {
      warn(`fetching ${name} from ${remote} failed: ${(error as Error).message}`);
    });
  const sha =
    (remote === undefined ? undefined : await commitOf(git, `refs/remotes/${remote}/${name}`)) ??
    (await commitOf(git, `refs/heads/${name}`));
  if (sha === undefined)
    throw new UsageError(`${name} has no commits; give --base, or make the first commit`);
  return { name, sha };
}

/** Reads the repository's settings from the base branch. */
export async function readRepositoryConfig(
  { git }: Repository,
  { sha, name }: BaseCommit,
): Promise<WorkConfig> {
  const { code, stdout } = await git.ask(['cat-file', 'blob', `${sha}:${configFile}`], {
    allowedExitCodes: [0, 128],
  });
  return parseConfig(code === 0 ? stdout : '', `${configFile} of ${name}`);
}

export { commitOf };

/**
 * Returns the folder for worktrees. Its default is next to the checkout, so that no tool finds one checkout
 * inside another.
 */
export const worktreesFolderOf = (
  { commonDir, checkoutFolder }: Repository,
  configuredFolder: string | undefined,
): string => {
  // The main checkout, even if the runner was started in one of its worktrees.
  const main = path.basename(commonDir) === '.git' ? path.dirname(commonDir) : commonDir;
  return configuredFolder === undefined
    ? `${main}.worktrees`
    : path.resolve(checkoutFolder, configuredFolder);
};

/** Finds the newest checkpoint that an earlier holder left, locally or at the remote. */
export async function findCheckpoint(
  { git, remote }: Repository,
  executionId: string,
  beforeEpoch: number,
  warn: (line: string) => void,
): Promise<{ sha: string; epoch: number } | undefined> {
  const space = `refs/muster/${executionId}`;
  const epochOf = (ref: string): number => Number(ref.slice(space.length + 1));
  if (remote !== undefined)
    await git([
      'fetch',
      '--quiet',
      '--no-tags',
      '--no-recurse-submodules',
      remote,
      `+${space}/*:refs/muster-remote/${executionId}/*`,
    ]).catch((error: unknown) => {
      warn(`fetching checkpoints from ${remote} failed: ${(error as Error).message}`);
    });
  const listed = await git([
    ...['for-each-ref', '--format=%(objectname) %(refname)', space],
    `refs/muster-remote/${executionId}`,
  ]);
  const all = listed
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [sha = '', ref = ''] = line.split(' ');
      const isLocal = ref.startsWith(space);
      return { sha, isLocal, epoch: epochOf(ref.replace('refs/muster-remote/', 'refs/muster/')) };
    })
    .filter(({ epoch }) => epoch < beforeEpoch)
    // A local checkpoint equals the remote's or is newer.
    .toSorted((one, other) => other.epoch - one.epoch || Number(other.isLocal) - Number(one.isLocal));
  return all[0];
}

/** Lists files that the checkout ignores and that `.worktreeinclude` of the base names. */
export async function listIncludedFiles({ git }: Repository, base: BaseCommit): Promise<string[]> {
  const { code, stdout } = await git.ask(['cat-file', 'blob', `${base.sha}:.worktreeinclude`], {
    allowedExitCodes: [0, 128],
  });
  if (code !== 0) return [];
  const patterns = stdout.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
  if (patterns.length === 0) return [];
  const named = splitNullSeparated(
    await git([
      'ls-files',
      '-z',
      '--others',
      '--ignored',
      ...patterns.map((pattern) => `--exclude=${pattern}`),
    ]),
  );
  if (named.length === 0) return [];
  const ignored = await git.ask(['check-ignore', '-z', '--stdin'], {
    input: named.join('\0'),
    allowedExitCodes: [0, 1],
  });
  return splitNullSeparated(ignored.stdout);
}
