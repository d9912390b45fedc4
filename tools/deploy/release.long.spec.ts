/**
 * Runs the original script of each step of the release workflow by bash, in temporary folders, as GitHub
 * does.
 */
import { execFile } from 'node:child_process';
import { cp, glob, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { repositoryRoot } from '@muster/tools';

/** The timeout of a test that builds bundles while other specs run. */
const buildMillis = 300_000;

interface Step {
  readonly name?: string;
  readonly run?: string;
}
const { jobs } = parse(
  await readFile(path.join(repositoryRoot, '.github/workflows/release.yml'), 'utf8'),
) as {
  jobs: Record<string, { steps: Step[] }>;
};
const scripts = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));

const stepOf = (job: string, name: string): string => {
  const run = jobs[job]?.steps.find((step) => step.name === name)?.run;
  if (run === undefined) throw new Error(`release.yml has no step ${name} in ${job}`);
  return run;
};

interface Said {
  readonly code: number;
  readonly out: string;
}

function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<Said> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd, env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), out: `${stdout}${stderr}`.trim() });
    });
  });
}

/** Runs a script as GitHub runs a step that names no shell. */
const bash = (script: string, cwd: string, env?: Record<string, string>): Promise<Said> =>
  run('bash', ['-e', '-c', script], cwd, env);

const git = async (cwd: string, ...args: string[]): Promise<string> => {
  const own = ['-c', 'user.name=spec', '-c', 'user.email=spec@example.com', '-c', 'init.defaultBranch=main'];
  const { code, out } = await run('git', [...own, ...args], cwd);
  if (code !== 0) throw new Error(out);
  return out;
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-release-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('starts programs of the repository that are there', async () => {
  const named = new Set(scripts.flatMap((script) => script.match(/(?<=\bnode )tools\/\S+/g) ?? []));
  expect([...named].toSorted()).toEqual(['tools/build/build-action.ts', 'tools/build/pack.ts']);
  for (const file of named) await readFile(path.join(repositoryRoot, file));
});

it('goes on only from a commit that main has, and from the tag of its version', async () => {
  const [origin, clone] = [path.join(folder, 'origin'), path.join(folder, 'clone')];
  await git(folder, 'init', '--quiet', origin);
  await writeFile(path.join(origin, 'package.json'), '{ "version": "1.2.0" }');
  await git(origin, 'add', '.');
  await git(origin, 'commit', '--quiet', '--message', 'one');
  await git(folder, 'clone', '--quiet', origin, clone);
  const onMain = await git(clone, 'rev-parse', 'HEAD');
  await git(clone, 'commit', '--quiet', '--allow-empty', '--message', 'aside');
  const aside = await git(clone, 'rev-parse', 'HEAD');
  const isOnMain = stepOf('publish', 'Publish nothing but what main has');
  expect(await bash(isOnMain, clone, { GITHUB_SHA: onMain })).toMatchObject({ code: 0 });
  expect(await bash(isOnMain, clone, { GITHUB_SHA: aside })).toMatchObject({ code: 1 });
  const isVersion = stepOf('publish', 'See that the tag is the version of the product');
  expect(await bash(isVersion, clone, { GITHUB_REF_NAME: 'v1.2.0' })).toMatchObject({ code: 0 });
  expect(await bash(isVersion, clone, { GITHUB_REF_NAME: 'v1.2.1' })).toMatchObject({ code: 1 });
});

it(
  'has one next version for all that others install, of what changesets say',
  async () => {
    const product = path.join(folder, 'product');
    const packages: string[] = [];
    for await (const file of glob('{apps,libs}/*/package.json', { cwd: repositoryRoot })) packages.push(file);
    for (const file of ['package.json', 'package-lock.json', '.changeset/config.json', ...packages])
      await cp(path.join(repositoryRoot, file), path.join(product, file));
    await symlink(path.join(repositoryRoot, 'node_modules'), path.join(product, 'node_modules'));
    await writeFile(path.join(product, '.gitignore'), 'node_modules\n');
    await writeFile(
      path.join(product, '.changeset/one.md'),
      "---\n'@muster/license-client': minor\n---\n\nIt says more.\n",
    );
    await git(folder, 'init', '--quiet', product);
    await git(product, 'add', '.');
    await git(product, 'commit', '--quiet', '--message', 'one');
    const changeset = path.join(repositoryRoot, 'node_modules/.bin/changeset');
    expect(await run(changeset, ['version'], product)).toMatchObject({ code: 0 });
    const versionOf = async (project: string): Promise<string> =>
      (JSON.parse(await readFile(path.join(product, project, 'package.json'), 'utf8')) as { version: string })
        .version;
    const before = await readFile(path.join(repositoryRoot, 'libs/client/package.json'), 'utf8');
    const versions = await Promise.all(['apps/cli', 'libs/client', 'libs/license-client'].map(versionOf));
    expect(new Set(versions).size).toBe(1);
    expect(versions[0]).not.toBe((JSON.parse(before) as { version: string }).version);
    expect(await readFile(path.join(product, 'libs/license-client/CHANGELOG.md'), 'utf8')).toContain(
      'It says more.',
    );
  },
  buildMillis,
);

describe('packages', () => {
  const publish = stepOf('publish', 'Publish what is not published yet');
  let packed: string;
  let registry: string;
  let tried: string;

  /**
   * A fake `npm` that knows which package is already published and records what is published. For each
   * package it also runs the real npm once.
   */
  const npm = (published: string): string => `#!/bin/bash
    case "$1 $2" in
      'view ${published}') echo 1.2.0 ;;
      view*) echo 'npm error code E404' >&2; exit 1 ;;
      publish*)
        echo "$@" >> "$PUBLISHED"
        tried="$TRIED/\${2##*/}"
        [ -e "$tried" ] || PATH="$REAL_PATH" npm publish "$2" --access public --dry-run --offline && touch "$tried" ;;
    esac
  `;

  async function publishAs(version: string, published = ''): Promise<string[]> {
    const place = await mkdtemp(path.join(folder, 'place-'));
    await mkdir(path.join(place, 'dist/packages'), { recursive: true });
    for (const tarball of await readdir(packed)) {
      const own = await mkdtemp(path.join(folder, 'package-'));
      await run('tar', ['-xzf', path.join(packed, tarball)], own);
      const manifest = path.join(own, 'package/package.json');
      const said = JSON.parse(await readFile(manifest, 'utf8')) as object;
      await writeFile(manifest, JSON.stringify({ ...said, version }));
      const again = path.join(place, 'dist/packages', tarball.replace(/\d[^-]*(?=\.tgz$)/, version));
      expect(await run('tar', ['-czf', again, 'package'], own)).toMatchObject({ code: 0 });
    }
    const programs = path.join(place, 'programs');
    await mkdir(programs);
    await writeFile(path.join(programs, 'npm'), npm(published), { mode: 0o755 });
    const notes = path.join(place, 'published');
    await writeFile(notes, '');
    const real = process.env['PATH'] ?? '';
    const said = await bash(publish, place, {
      PATH: `${programs}${path.delimiter}${real}`,
      ...{ REAL_PATH: real, PUBLISHED: notes, TRIED: tried, npm_config_cache: registry },
    });
    expect(said).toMatchObject({ code: 0 });
    return (await readFile(notes, 'utf8')).split('\n').filter((line) => line !== '');
  }

  beforeAll(async () => {
    packed = path.join(folder, 'packed');
    registry = path.join(folder, 'cache');
    tried = await mkdtemp(path.join(folder, 'tried-'));
    const said = await run(process.execPath, ['tools/build/pack.ts', packed], repositoryRoot, {
      GITHUB_REPOSITORY: 'acme/muster',
    });
    expect(said).toMatchObject({ code: 0 });
  }, buildMillis);

  it('are published with their origin, each that npm takes and has not yet', async () => {
    const flags = '--provenance --access public';
    expect(await publishAs('1.2.0')).toEqual([
      `publish dist/packages/muster-cli-1.2.0.tgz ${flags}`,
      `publish dist/packages/muster-client-1.2.0.tgz ${flags}`,
      `publish dist/packages/muster-license-client-1.2.0.tgz ${flags}`,
    ]);
    expect(await publishAs('1.2.0', '@muster/client@1.2.0')).toEqual([
      `publish dist/packages/muster-cli-1.2.0.tgz ${flags}`,
      `publish dist/packages/muster-license-client-1.2.0.tgz ${flags}`,
    ]);
  });

  it('are never published as version 0.0.0', async () => {
    expect(await publishAs('0.0.0')).toEqual([]);
  });
});

it(
  'puts the action on a branch and a tag of its own, with all that it starts',
  async () => {
    const [place, remote] = [path.join(folder, 'action'), path.join(folder, 'remote.git')];
    await git(folder, 'init', '--quiet', '--bare', remote);
    const built = await run(
      process.execPath,
      ['tools/build/build-action.ts', path.join(place, 'dist/action')],
      repositoryRoot,
    );
    expect(built).toMatchObject({ code: 0 });
    const said = await bash(stepOf('action', 'Put it where workflows find it'), place, {
      ...{ TOKEN: 'secret', GITHUB_REPOSITORY: 'acme/muster', GITHUB_REF_NAME: 'v1.2.0' },
      ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: `url.${remote}.insteadOf` },
      GIT_CONFIG_VALUE_0: 'https://x-access-token:secret@github.com/acme/muster.git',
    });
    expect(said).toMatchObject({ code: 0 });
    const refs = (await git(remote, 'for-each-ref', '--format', '%(refname)')).split('\n');
    expect(refs).toEqual(['refs/heads/action', 'refs/tags/action-v1.2.0']);
    const files = (await git(remote, 'ls-tree', '--name-only', 'action')).split('\n');
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'action.js', 'action.yml', 'main.js']));
  },
  buildMillis,
);

it('notes in each image the commit that it was built of', () => {
  expect(stepOf('images', 'Build, push and sign')).toContain('--build-arg REVISION="$GITHUB_SHA"');
});
