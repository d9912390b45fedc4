import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createGitRunner } from './git.ts';
import { findRepository, listIncludedFiles } from './repository.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-included-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const write = async (name: string, text = ''): Promise<void> => {
  await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
  await writeFile(path.join(folder, name), text);
};

/**
 * Creates a checkout that ignores `.env*`, `local/` and `dist/`, and whose base has `list` as its
 * `.worktreeinclude`. Returns the included files.
 */
async function includedFilesFor(list: string): Promise<string[]> {
  const git = createGitRunner({ folder });
  await git(['init', '--quiet', '--initial-branch=main']);
  await write('.gitignore', '.env*\nlocal/\ndist/\n');
  await write('.worktreeinclude', list);
  await write('src/main.ts');
  await git(['add', '.']);
  await git(['-c', 'user.name=Ana', '-c', 'user.email=ana@example.com', 'commit', '--quiet', '-m', 'All']);
  for (const name of ['.env.test', '.env', 'local/a/key', 'dist/main.js', 'notes']) await write(name);
  const repository = await findRepository(folder);
  const sha = (await git(['rev-parse', 'HEAD'])).trim();
  return (await listIncludedFiles(repository, { name: 'main', sha })).sort();
}

describe('.worktreeinclude', () => {
  it('names ignored files, and no others', async () => {
    expect(await includedFilesFor('# For tests\n.env.test\n\nlocal/\nnotes\nsrc/\n')).toEqual([
      '.env.test',
      'local/a/key',
    ]);
  });

  it('is read as well where its lines end as on Windows', async () => {
    expect(await includedFilesFor('.env*\r\n!.env\r\n')).toEqual(['.env.test']);
  });

  it('has none copied where it is empty', async () => {
    expect(await includedFilesFor('')).toEqual([]);
  });
});
