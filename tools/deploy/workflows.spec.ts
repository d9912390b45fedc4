/** Tests that CI runs foreign actions only at a reviewed commit. A tag can be moved, a commit cannot. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { repositoryRoot } from '@muster/tools';
import { programs } from './dockerfile.ts';

const github = path.join(repositoryRoot, '.github');
const folder = path.join(github, 'workflows');

it('names every action of others by its commit, with the version beside it', async () => {
  const files = (await readdir(github, { recursive: true })).filter((file) => file.endsWith('.yml'));
  const texts = files.map((file) => readFile(path.join(github, file), 'utf8'));
  const uses = (await Promise.all(texts)).flatMap((text) => text.match(/(?<=uses: )(?!\.\/).+/g) ?? []);
  expect(uses.length).toBeGreaterThan(0);
  for (const one of uses) expect(one).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

/** Returns the jobs of the release workflow with their steps, parsed from YAML. */
const jobs = async () => {
  const { jobs: all } = parse(await readFile(path.join(folder, 'release.yml'), 'utf8')) as {
    jobs: Record<
      string,
      {
        needs?: string;
        permissions: Record<string, string>;
        strategy?: { matrix: { program: string[] } };
        steps: { run?: string }[];
      }
    >;
  };
  return all;
};

it('releases an image of each program, signed by its digest, once the packages are out', async () => {
  const { images } = await jobs();
  expect(images?.strategy?.matrix.program.toSorted()).toEqual(programs.toSorted());
  expect(images?.needs).toBe('publish');
  expect(images?.permissions).toMatchObject({ packages: 'write', 'id-token': 'write' });
  const script = images?.steps.map(({ run }) => run ?? '').join('\n') ?? '';
  expect(script).toMatch(/docker buildx build --target "\$PROGRAM"/);
  expect(script).toMatch(/cosign sign --yes --recursive "\$image@\$digest"/);
});

it('gives no job of the release more than it needs', async () => {
  for (const [name, { permissions }] of Object.entries(await jobs())) {
    const writes = Object.keys(permissions).filter((key) => permissions[key] === 'write');
    const may = {
      publish: ['id-token'],
      python: ['id-token'],
      images: ['packages', 'id-token'],
      action: ['contents'],
    }[name];
    expect([name, writes]).toEqual([name, may]);
  }
});
