// Tests statements of the repository about itself that no other check would find outdated.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { productVersion } from '@muster/contract';
import picomatch from 'picomatch';

const workspaceRoot = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(workspaceRoot, file), 'utf8');

interface Manifest {
  name: string;
  license?: string;
  version: string;
  private?: boolean;
  bin?: object;
  nx?: { targets: Record<string, { command?: string }> };
}

const projects = ['apps', 'libs'].flatMap((parent) =>
  readdirSync(path.join(workspaceRoot, parent)).map((name) => `${parent}/${name}`),
);
const manifestOf = (folder: string): Manifest =>
  JSON.parse(read(path.join(folder, 'package.json'))) as Manifest;
/** Packages that are built for others to install. */
const published = projects.filter((folder) =>
  manifestOf(folder).nx?.targets['build']?.command?.includes('build-lib'),
);
/** Packages that can be installed: published libraries, and apps with a command. */
const installed = projects.filter(
  (folder) => published.includes(folder) || manifestOf(folder).bin !== undefined,
);

describe('CODEOWNERS', () => {
  /** The placeholders, which are comments for GitHub. */
  const lines = read('CODEOWNERS')
    .split('\n')
    .filter((line) => line.startsWith('#@ '))
    .map((line) => line.slice(3).split(/\s+/));

  it('names no team as it comes, since none of its placeholders is one', () => {
    expect(
      read('CODEOWNERS')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#')),
    ).toEqual([]);
  });

  it.each(projects)('says once whose %s is', (folder) => {
    expect(lines.filter(([pattern]) => pattern === `/${folder}/`)).toHaveLength(1);
  });

  it('has owners on every line, and no line for what is not there', () => {
    for (const [pattern = '', ...owners] of lines) {
      expect([pattern, owners]).toEqual([pattern, [expect.stringMatching(/^@muster\/[a-z]+$/)]]);
      expect([pattern, pattern === '*' || existsSync(path.join(workspaceRoot, pattern))]).toEqual([
        pattern,
        true,
      ]);
    }
  });
});

describe('the license', () => {
  it('is one, for all of it', () => {
    expect(published).toEqual(['libs/client', 'libs/license-client']);
    expect(read('LICENSE')).toContain('Apache License\n                           Version 2.0');
    expect(read('NOTICE')).toMatch(/^Muster\nCopyright/);
    for (const folder of ['.', ...published]) expect(manifestOf(folder).license).toBe('Apache-2.0');
    const others = projects.filter((folder) => !published.includes(folder));
    expect(others.filter((folder) => manifestOf(folder).license !== undefined)).toEqual([]);
    // Only packages that are built for publication may leave the repository.
    expect(['.', ...projects].filter((folder) => manifestOf(folder).private !== true)).toEqual([]);
  });
});

describe('the version', () => {
  const { version } = JSON.parse(read('package.json')) as Manifest;

  it('is one, of the repository, of what others install, of the images and of the lockfile', () => {
    expect(productVersion).toBe(version);
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Manifest> };
    for (const folder of installed) {
      expect([folder, manifestOf(folder).version]).toEqual([folder, version]);
      expect([folder, packages[folder]?.version]).toEqual([folder, version]);
    }
    expect(packages['']?.version).toBe(version);
    expect(/^ARG VERSION=(.+)$/m.exec(read('Dockerfile'))?.[1]).toBe(version);
  });

  it('is the newest of the notes of releases, as soon as there is one', () => {
    const notes = 'libs/client/CHANGELOG.md';
    const newest = existsSync(path.join(workspaceRoot, notes))
      ? /^## (\S+)$/m.exec(read(notes))?.[1]
      : '0.0.0';
    expect(newest).toBe(version);
  });
});

describe('changesets', () => {
  const { ignore, fixed } = JSON.parse(read('.changeset/config.json')) as {
    ignore: string[];
    fixed: string[][];
  };
  const names = installed.map((folder) => manifestOf(folder).name);

  it('are about what others install, which has one version, and about nothing else', () => {
    const counted = projects.filter((folder) => !picomatch.isMatch(manifestOf(folder).name, ignore));
    expect(counted).toEqual(installed);
    expect(fixed.map((group) => group.toSorted())).toEqual([names.toSorted()]);
  });

  it('name packages that there are', () => {
    for (const file of readdirSync(path.join(workspaceRoot, '.changeset')).filter((name) =>
      name.endsWith('.md'),
    )) {
      const named = [
        ...read(`.changeset/${file}`).matchAll(/^['"](@muster\/[a-z-]+)['"]: (major|minor|patch)$/gm),
      ];
      expect([file, named.map(([, name]) => name)]).toEqual([
        file,
        expect.arrayContaining([expect.any(String)]),
      ]);
      expect(names).toEqual(expect.arrayContaining(named.map(([, name]) => name)));
    }
  });
});
