/** What CI runs of others is what was looked at: a tag can be moved, a commit cannot. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { repositoryRoot } from '../dev/repository.ts';

const folder = path.join(repositoryRoot, '.github/workflows');

it('names every action by its commit, with the version beside it', async () => {
  const texts = (await readdir(folder)).map((file) => readFile(path.join(folder, file), 'utf8'));
  const uses = (await Promise.all(texts)).flatMap((text) => text.match(/(?<=uses: ).+/g) ?? []);
  expect(uses.length).toBeGreaterThan(0);
  for (const one of uses) expect(one).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
