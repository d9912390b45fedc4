/** Git repositories on this machine, found without starting git, because a hook must answer quickly. */
import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** Returns the nearest folder at or above `folder` that has `.git`, or undefined if there is none. */
export async function findRepositoryRoot(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = path.dirname(at)) {
    const isRoot = await stat(path.join(at, '.git')).then(
      () => true,
      () => false,
    );
    if (isRoot) return at;
    if (at === path.dirname(at)) return undefined;
  }
}

/** Returns the git folder that all worktrees of the repository share. */
async function sharedGitFolder(root: string): Promise<string> {
  const place = path.join(root, '.git');
  // In a worktree `.git` is a file with the path of its folder in the shared git folder.
  const text = await readFile(place, 'utf8').catch(() => undefined);
  const folder = /^gitdir: (.+)$/m.exec(text ?? '')?.[1];
  if (folder === undefined) return place;
  return path.resolve(root, folder.trim()).replace(/[\\/]worktrees[\\/][^\\/]+$/, '');
}

/** Returns the addresses of the remotes of the repository that has the folder. */
export async function readRemoteUrls(folder: string): Promise<string[]> {
  const root = await findRepositoryRoot(await resolveLinks(folder));
  if (root === undefined) return [];
  const config = await readFile(path.join(await sharedGitFolder(root), 'config'), 'utf8').catch(() => '');
  return [...config.matchAll(/^\s*url\s*=\s*(.+)$/gm)].map(([, url = '']) => url.trim());
}

/** Resolves symbolic links of the part of the path that exists. The file may be new. */
export async function resolveLinks(file: string): Promise<string> {
  const resolved = await realpath(file).catch(() => undefined);
  if (resolved !== undefined || file === path.dirname(file)) return resolved ?? file;
  return path.join(await resolveLinks(path.dirname(file)), path.basename(file));
}

/**
 * Returns the file's path within its repository, with `/`. Returns undefined if the file is not in the
 * repository of `folder` or in one of its worktrees.
 */
export async function pathInRepository(folder: string, file: string): Promise<string | undefined> {
  const base = await resolveLinks(folder);
  const target = await resolveLinks(path.resolve(folder, file));
  const ownRoot = await findRepositoryRoot(base);
  const root = ownRoot === undefined ? base : await findRepositoryRoot(path.dirname(target));
  if (root === undefined) return undefined;
  const isSame =
    ownRoot === undefined ||
    root === ownRoot ||
    (await sharedGitFolder(root)) === (await sharedGitFolder(ownRoot));
  const relative = path.relative(root, target);
  if (!isSame || relative === '' || relative.startsWith('..') || path.isAbsolute(relative)) return undefined;
  return relative.split(path.sep).join('/');
}
