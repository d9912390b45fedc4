// Tests an upgrade, in which the migrations run first while the previous release is still active. The spec
// tries the last release, and a repository made for the test that breaks the rules for migrations.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operations } from '@muster/registry';
import { repositoryRoot } from '@muster/tools';
import { git, lastRelease } from './last-release.ts';
import { tryRelease } from './try-release.ts';

const minutes = 60_000;

it(
  'runs the last release on the schema of now, as soon as there is one',
  async () => {
    const tag = await lastRelease(repositoryRoot);
    if (tag === undefined) {
      // The release notes decide which release is tried, so several tags without release notes are an error.
      // A copy without history has no tags.
      const tags = (await git(repositoryRoot, 'tag', '--list', 'v*').catch(() => ''))
        .split('\n')
        .filter(Boolean);
      expect(tags.length).toBeLessThan(2);
      return;
    }
    const { passed, failed, said } = await tryRelease(repositoryRoot, tag);
    expect([failed, said]).toEqual([0, said]);
    expect(passed).toBeGreaterThan(0);
  },
  10 * minutes,
);

describe('a repository with a release', () => {
  const next = 'libs/migrations/migrations/0999_next.sql';
  let repository: string;

  const commit = (message: string): Promise<unknown> =>
    promisify(execFile)('bash', [
      '-euc',
      'cd "$0"; git add --all; git -c user.name=Ana -c user.email=ana@acme.example -c commit.gpgsign=false commit --quiet --message "$1"',
      repository,
      message,
    ]);
  const noteReleases = (...versions: string[]): Promise<void> =>
    writeFile(
      path.join(repository, 'libs/client/CHANGELOG.md'),
      `# @muster/client\n\n${versions.map((version) => `## ${version}\n\n### Minor Changes\n`).join('\n')}`,
    );

  beforeAll(async () => {
    repository = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-upgrade-')));
    const isMade = /(^|\/)(node_modules|dist|\.git|\.nx|\.data)(\/|$)/;
    // Leaves out everything that the check of a release does not need, so that changes there do not make Nx
    // repeat this test.
    const isElsewhere = /^(docs|apps\/(?!coordination-api|license-service))(\/|\b)/;
    await cp(repositoryRoot, repository, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => {
        const name = path.relative(repositoryRoot, source);
        return !isMade.test(name) && !isElsewhere.test(name);
      },
    });
    await git(repository, 'init', '--quiet');
    await noteReleases('1.0.0');
    await commit('What is released');
    await git(repository, 'tag', 'v1.0.0');
    await writeFile(path.join(repository, 'next.txt'), 'What comes next');
    await commit('Go on');
  }, minutes);
  afterAll(() => rm(repository, { recursive: true }));

  const tryWith = async (sql: string) => {
    await writeFile(path.join(repository, next), sql);
    return tryRelease(repository, 'v1.0.0');
  };

  it(
    'is found by its notes, in a shallow clone too',
    async () => {
      expect(await lastRelease(repository)).toBe('v1.0.0');
      const clone = await mkdtemp(path.join(tmpdir(), 'muster-clone-'));
      try {
        await git(clone, 'clone', '--quiet', '--depth=1', '--no-tags', `file://${repository}`, '.');
        expect(await git(clone, 'tag')).toBe('');
        expect(await lastRelease(clone)).toBe('v1.0.0');
      } finally {
        await rm(clone, { recursive: true });
      }
    },
    minutes,
  );

  it('is the one before, in the commit that is released next', async () => {
    await noteReleases('1.1.0', '1.0.0');
    expect(await lastRelease(repository)).toBe('v1.0.0');
    await git(repository, 'tag', 'v1.1.0');
    expect(await lastRelease(repository)).toBe('v1.0.0');
    await git(repository, 'tag', '--delete', 'v1.1.0');
  });

  it('is not passed over where its tag is missing', async () => {
    await noteReleases('1.2.0', '1.1.0', '1.0.0');
    await expect(lastRelease(repository)).rejects.toThrow('1.1.0 was released, but its tag v1.1.0');
    await noteReleases('1.0.0');
  });

  it('is none for the first', async () => {
    await git(repository, 'tag', '--force', 'v1.0.0', 'HEAD');
    expect(await lastRelease(repository)).toBeUndefined();
    await git(repository, 'tag', '--force', 'v1.0.0', 'HEAD^');
    await noteReleases();
    expect(await lastRelease(repository)).toBeUndefined();
    await noteReleases('1.0.0');
  });

  it(
    'runs on a schema with more in it',
    async () => {
      const { passed, failed, said } = await tryWith('alter table stories add column size text;');
      expect([passed, failed, said]).toEqual([1, 0, said]);
    },
    5 * minutes,
  );

  it(
    'is seen to fail on one from which something is gone that it reads',
    async () => {
      const { failed, tried, broken, said } = await tryWith(
        'alter table comment_reactions rename column emoji to symbol;',
      );
      expect([failed, tried, said]).toEqual([1, operations.size, said]);
      expect(broken).toEqual(expect.arrayContaining(['comments.list', 'comments.react']));
      expect(broken).not.toContain('stories.create');
    },
    5 * minutes,
  );
});
