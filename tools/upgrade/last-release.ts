import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

export async function git(repository: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', ['-C', repository, ...args]);
  return stdout.trim();
}

/**
 * The tag of the last release, which the version in the root's package.json names; undefined while that is 0.0.0, for
 * nothing was released. A shallow clone gets the tag from where it was cloned.
 */
export async function lastRelease(repository: string): Promise<string | undefined> {
  const manifest = await readFile(path.join(repository, 'package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  if (version === '0.0.0') return undefined;
  const tag = `v${version}`;
  const isHere = (): Promise<boolean> =>
    git(repository, 'rev-parse', '--verify', '--quiet', `${tag}^{commit}`).then(
      () => true,
      () => false,
    );
  if (await isHere()) return tag;
  await git(repository, 'fetch', '--quiet', 'origin', `refs/tags/${tag}:refs/tags/${tag}`).catch(
    () => undefined,
  );
  if (await isHere()) return tag;
  throw new Error(`${version} is said to be the last release, but its tag ${tag} is not to be had`);
}
