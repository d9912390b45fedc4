import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

export async function git(repository: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', ['-C', repository, ...args]);
  return stdout.trim();
}

/**
 * Lists the versions of all releases, newest first. Changesets write each version as a heading into this
 * changelog.
 */
async function releases(repository: string): Promise<string[]> {
  const file = path.join(repository, 'libs/client/CHANGELOG.md');
  const notes = await readFile(file, 'utf8').catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    return '';
  });
  return [...notes.matchAll(/^## (\d+\.\d+\.\d+\S*)$/gm)].map(([, version = '']) => version);
}

/**
 * Returns the tag of the last release before the checked-out commit; undefined if there was none. The commit
 * that is about to be released already has its version in the changelog, and gets its tag only later. A
 * shallow clone fetches the tag from its origin.
 */
export async function lastRelease(repository: string): Promise<string | undefined> {
  const [newest, before] = await releases(repository);
  if (newest === undefined) return undefined;
  const commitOf = (name: string): Promise<string | undefined> =>
    git(repository, 'rev-parse', '--verify', '--quiet', `${name}^{commit}`).catch(() => undefined);
  const find = async (version: string): Promise<string | undefined> => {
    const tag = `v${version}`;
    const here = await commitOf(tag);
    if (here !== undefined) return here;
    await git(repository, 'fetch', '--quiet', 'origin', `refs/tags/${tag}:refs/tags/${tag}`).catch(
      () => undefined,
    );
    return commitOf(tag);
  };
  const released = await find(newest);
  if (released !== undefined && released !== (await commitOf('HEAD'))) return `v${newest}`;
  if (before === undefined) return undefined;
  if ((await find(before)) !== undefined) return `v${before}`;
  throw new Error(`${before} was released, but its tag v${before} is not to be had`);
}
