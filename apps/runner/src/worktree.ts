/**
 * The folder of one run. It is created, saved without changing its index, and removed only if nothing in it
 * would be lost.
 */
import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, realpath, rm, stat, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type GitRunner, GitError, splitNullSeparated, createGitRunner } from './git.ts';
import { copyWorktreeConfig } from './private-config.ts';
import { commitOf, type Repository } from './repository.ts';
import { requireTrustedConfig } from './trusted-config.ts';

export interface Worktree {
  readonly folder: string;
  readonly gitDir: string;
  /**
   * Git with explicit folders. It never searches for the repository, because an agent may have removed the
   * file that names it.
   */
  readonly git: GitRunner;
}

/** A commit with all files of a worktree. */
export interface Snapshot {
  readonly commit: string;
  readonly tree: string;
  /** The HEAD commit of the worktree. */
  readonly head: string;
}

const pathExists = async (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

/** The error of a folder that is no longer a worktree, because an agent removed it or its `.git` file. */
export class WorktreeGoneError extends Error {
  constructor(folder: string) {
    super(`${folder} is no longer a worktree`);
  }
}

/**
 * Returns the worktree with the paths that were recorded when it was created. The current contents of the
 * folder are not read.
 */
export const worktreeAt = (folder: string, gitDir: string): Worktree => ({
  folder,
  gitDir,
  git: createGitRunner({ folder, gitDir }),
});

const findGitDir = (folder: string): Promise<string> =>
  createGitRunner({ folder })(['rev-parse', '--absolute-git-dir']);

export async function openWorktree(folder: string): Promise<Worktree> {
  const gitDir = await findGitDir(folder);
  // Record the configuration before any agent works in this repository.
  await requireTrustedConfig(gitDir);
  return worktreeAt(folder, gitDir);
}

/**
 * Removes the folder of a worktree in which no agent has worked yet. Returns false if the folder belongs to
 * something else.
 */
async function removeUnusedFolder({ git, commonDir }: Repository, folder: string): Promise<boolean> {
  if (!(await pathExists(folder))) return true;
  const link = await readFile(path.join(folder, '.git'), 'utf8').catch(() => '');
  // The path may lead through the private common directory, if the runner died before it was replaced.
  const linked = await realpath(link.replace(/^gitdir: /, '').trim()).catch(() => '');
  const isOurs = path.dirname(linked) === path.join(commonDir, 'worktrees');
  if (!isOurs && (await readdir(folder)).length > 0) return false;
  await git.ask(['worktree', 'remove', '--force', '--force', folder], { allowedExitCodes: [0, 128] });
  await rm(folder, { recursive: true, force: true });
  return true;
}

interface PlannedWorktree {
  readonly branch: string;
  readonly folder: string;
  readonly startSha: string;
}

/**
 * Removes a worktree in which no agent has worked yet: its folder, and its branch if nothing was committed
 * there.
 */
export async function removeUnusedWorktree(
  repository: Repository,
  { branch, folder, startSha }: PlannedWorktree,
): Promise<void> {
  const { git } = repository;
  await removeUnusedFolder(repository, folder);
  await git(['worktree', 'prune']);
  if ((await commitOf(git, `refs/heads/${branch}`)) === startSha)
    await git.ask(['branch', '--quiet', '-D', branch], { allowedExitCodes: [0, 1, 128] });
}

/** Creates the branch and its folder, replacing the leftovers of an interrupted call. */
export async function addWorktree(
  repository: Repository,
  { branch, folder, startSha }: PlannedWorktree,
): Promise<Worktree> {
  const { git } = repository;
  await mkdir(path.dirname(folder), { recursive: true });
  // Git removes this folder with the last worktree, and does not create the target of a link to it.
  await mkdir(path.join(repository.commonDir, 'worktrees'), { recursive: true });
  if (!(await removeUnusedFolder(repository, folder))) throw new Error(`${folder} already exists`);
  await git(['worktree', 'prune']);
  const isThere = (await commitOf(git, `refs/heads/${branch}`)) !== undefined;
  await git([
    ...['worktree', 'add', '--quiet'],
    ...(isThere ? [folder, branch] : ['-b', branch, '--no-track', folder, startSha]),
  ]);
  const gitDir = await findGitDir(folder);
  // Git wrote a path through the runner's private configuration, which is only for the runner.
  await writeFile(path.join(folder, '.git'), `gitdir: ${gitDir}\n`);
  await copyWorktreeConfig(repository, gitDir);
  return openWorktree(folder);
}

/** Returns true if the folder is still the worktree that the runner created. */
export async function isIntactWorktree({ folder, gitDir }: Worktree): Promise<boolean> {
  if (path.basename(gitDir) === '.git') return pathExists(gitDir);
  const link = await readFile(path.join(folder, '.git'), 'utf8').catch(() => '');
  return link.trim() === `gitdir: ${gitDir}`;
}

/** Picks the folders that are repositories themselves from git's lines of an index or a tree. */
const nestedRepositoryPaths = (lines: string): string[] =>
  splitNullSeparated(lines)
    .filter((line) => line.startsWith('160000 '))
    .map((line) => line.slice(line.indexOf('\t') + 1));

/** Writes the tree of all files that are not ignored, using a separate index. */
async function writeWorktreeTree(worktree: Worktree, head: string): Promise<string> {
  const { git, gitDir } = worktree;
  const index = path.join(gitDir, `muster-index-${randomUUID()}`);
  const env = { GIT_INDEX_FILE: index };
  try {
    if (!(await isIntactWorktree(worktree))) throw new WorktreeGoneError(worktree.folder);
    // A copy of the agent's index knows which files have not changed. If it is damaged or missing, the commit
    // is read instead, which is slower.
    const list = () => git.ask(['ls-files', '--stage', '-z'], { env, allowedExitCodes: [0, 128] });
    let listed = await copyFile(path.join(gitDir, 'index'), index).then(list, () => undefined);
    if (listed?.code !== 0) {
      await unlink(index).catch(() => undefined);
      await git(['read-tree', head], { env });
      listed = await list();
    }
    // Exclude nested repositories. `git add` would run `git status` in them, and so the programs that their
    // configuration names.
    const inside = nestedRepositoryPaths(listed.stdout);
    const pathspecs = [':(top)', ...inside.map((name) => `:(top,exclude,literal)${name}`)];
    // If a file changes while it is read, or cannot be read, its earlier version stays in the index.
    await git.ask(['add', '--all', '--ignore-errors', '--pathspec-from-file=-', '--pathspec-file-nul'], {
      env,
      allowedExitCodes: [0, 1],
      input: pathspecs.join('\0'),
    });
    // This command reads the HEAD of a nested repository without running a program in it.
    await git(['update-index', '--add', '--remove', '-z', '--stdin'], { env, input: inside.join('\0') });
    const tree = await git(['write-tree'], { env });
    if (!(await isIntactWorktree(worktree))) throw new WorktreeGoneError(worktree.folder);
    return tree;
  } finally {
    for (const file of [index, `${index}.lock`]) await unlink(file).catch(() => undefined);
  }
}

export interface Author {
  readonly name: string;
  readonly email: string;
}

const authorEnvironment = ({ name, email }: Author): Record<string, string> => ({
  ...{ GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email },
  ...{ GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email },
});

/** Returns the user of git's configuration, with the agent's name for what is missing. */
export async function readAuthor({ git }: Repository, agent: string): Promise<Author> {
  const read = async (name: string): Promise<string> =>
    (await git.ask(['config', '--get', name], { allowedExitCodes: [0, 1] })).stdout.trim();
  const [name, email] = await Promise.all([read('user.name'), read('user.email')]);
  return { name: name || agent, email: email || 'agent@muster.invalid' };
}

/**
 * Commits all files under a separate ref. Its parents are the worktree's HEAD and the last checkpoint.
 * Returns undefined if nothing changed since then.
 */
export async function saveSnapshot(
  worktree: Worktree,
  { ref, message, author }: { ref: string; message: string; author: Author },
): Promise<Snapshot | undefined> {
  const { git } = worktree;
  const head = await git(['rev-parse', '--verify', 'HEAD^{commit}']);
  const tree = await writeWorktreeTree(worktree, head);
  const before = await commitOf(git, ref);
  if (before !== undefined) {
    const known = await git(['show', '-s', '--format=%T %P', before]);
    const [knownTree, knownHead] = known.split(' ');
    if (knownTree === tree && knownHead === head) return undefined;
  }
  const parents = [head, ...(before === undefined ? [] : [before])].flatMap((sha) => ['-p', sha]);
  const commit = await git(['commit-tree', tree, ...parents, '-m', message], {
    env: authorEnvironment(author),
  });
  await git([
    'update-ref',
    '--create-reflog',
    '-m',
    'muster checkpoint',
    ref,
    commit,
    before ?? '0'.repeat(40),
  ]);
  return { commit, tree, head };
}

/** Restores the files of a checkpoint as uncommitted changes, as the agent that wrote them left them. */
export const restoreFiles = async ({ git }: Worktree, sha: string): Promise<void> => {
  await git(['restore', `--source=${sha}`, '--worktree', '--', ':/']);
};

/** Commits all uncommitted changes on the branch. Returns the head of the branch. */
export async function commitRemainingChanges(
  worktree: Worktree,
  { branch, message, author }: { branch: string; message: string; author: Author },
): Promise<string> {
  const { git } = worktree;
  const head = await git(['rev-parse', '--verify', 'HEAD^{commit}']);
  const tree = await writeWorktreeTree(worktree, head);
  const known = await git(['rev-parse', `${head}^{tree}`]);
  const emptyTree = await git(['mktree']);
  if (tree === emptyTree && known !== emptyTree) throw new WorktreeGoneError(worktree.folder);
  const commit =
    tree === known
      ? head
      : await git(['commit-tree', tree, '-p', head, '-m', message], { env: authorEnvironment(author) });
  await git(['update-ref', '-m', 'muster work', `refs/heads/${branch}`, commit]);
  if (commit !== head) {
    // Puts HEAD back on the branch if the agent moved it, and resets the index.
    await git.ask(['symbolic-ref', 'HEAD', `refs/heads/${branch}`], { allowedExitCodes: [0, 1, 128] });
    await git.ask(['reset', '--quiet'], { allowedExitCodes: [0, 1, 128] });
  }
  return commit;
}

/** Lists the files that differ between two commits. */
export const changedFiles = async (git: GitRunner, from: string, to: string): Promise<string[]> =>
  splitNullSeparated(await git(['diff', '--name-only', '-z', '--no-renames', from, to]));

/** Pushes a commit to a ref of the remote. Returns undefined on success, else the problem. */
export async function pushCommit(
  { git, remote }: Repository,
  sha: string,
  ref: string,
  isForced: boolean,
): Promise<string | undefined> {
  if (remote === undefined) return 'there is no remote';
  try {
    await git([
      ...['push', '--quiet', '--no-verify', '--recurse-submodules=no'],
      ...[remote, `${isForced ? '+' : ''}${sha}:${ref}`],
    ]);
    return undefined;
  } catch (error) {
    if (error instanceof GitError) return error.message;
    throw error;
  }
}

/** Lists the folders of a commit that are repositories themselves. A push does not include their contents. */
const nestedRepositoriesOf = async (git: GitRunner, sha: string): Promise<string[]> =>
  nestedRepositoryPaths(await git(['ls-tree', '-r', '-z', sha]));

/**
 * Returns the reason why the folder has to stay. Returns undefined if the remote has all its contents. `save`
 * writes its checkpoint.
 */
export async function reasonToKeepFolder(
  repository: Repository,
  worktree: Worktree,
  { ref, baseSha }: { readonly ref: string; readonly baseSha: string },
  saveCheckpoint: () => Promise<void>,
): Promise<string | undefined> {
  const { git, remote } = repository;
  if (remote === undefined) return 'no remote has it';
  if (!(await isIntactWorktree(worktree))) return 'the folder is no longer a worktree';
  await saveCheckpoint();
  const sha = await git(['rev-parse', '--verify', ref]);
  const trouble = await pushCommit(repository, sha, ref, true);
  const no = `it is not on ${remote}: ${trouble ?? ''}`;
  // guard: only what the remote has is given back
  if (trouble !== undefined) return no;
  const inside = await nestedRepositoriesOf(git, sha);
  const known = new Set(await nestedRepositoriesOf(git, baseSha));
  const strange = inside.find((name) => !known.has(name));
  return strange === undefined ? undefined : `${strange} is a separate repository`;
}

/** Removes the folder, and the local branch if the checkpoint contains it. The caller has checked reasonToKeepFolder. */
export async function removeWorktree(
  { git }: Repository,
  { folder }: Worktree,
  { branch, ref }: { readonly branch: string; readonly ref: string },
): Promise<void> {
  // The folder contains files that git ignores, so git removes it only with --force.
  await git(['worktree', 'remove', '--force', folder]);
  const isIn = await git.ask(['merge-base', '--is-ancestor', branch, ref], { allowedExitCodes: [0, 1, 128] });
  if (isIn.code === 0) await git.ask(['branch', '--quiet', '-D', branch], { allowedExitCodes: [0, 1, 128] });
}

/**
 * Returns the git arguments that return a checkout to its earlier state: on a branch, or at a detached
 * commit.
 */
export const switchBackArguments = (previousBranch: string): string[] => [
  ...['switch', '--quiet', ...(/^[0-9a-f]{40,}$/.test(previousBranch) ? ['--detach'] : []), previousBranch],
];
