// What Nx and lint pass over in silence when a manifest forgets it.
import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const workspaceRoot = path.resolve(import.meta.dirname, '../..');

interface NxConfig {
  tags: string[];
  targets: Record<string, unknown>;
}

interface Project extends NxConfig {
  folder: string;
}

function read(folder: string): Project {
  const manifest = path.join(workspaceRoot, folder, 'package.json');
  const text = readFileSync(
    existsSync(manifest) ? manifest : path.join(workspaceRoot, folder, 'project.json'),
    'utf8',
  );
  const parsed = JSON.parse(text) as NxConfig & { nx?: NxConfig };
  const { tags, targets } = parsed.nx ?? parsed;
  return { folder, tags, targets };
}

const projects = ['apps', 'libs']
  .flatMap((parent) => readdirSync(path.join(workspaceRoot, parent)).map((name) => `${parent}/${name}`))
  .concat('tools')
  .map(read);

describe.each(projects)('$folder', ({ folder, tags, targets }) => {
  it('has exactly one type', () => {
    expect(tags.filter((tag) => tag.startsWith('type:'))).toHaveLength(1);
  });

  it('is linted and type-checked, and tested unless it is what tests are made with', () => {
    const expected = tags.includes('type:testing') ? ['lint', 'typecheck'] : ['lint', 'test', 'typecheck'];
    expect(Object.keys(targets)).toEqual(expect.arrayContaining(expected));
  });

  if (folder.startsWith('apps/')) {
    it('is built, and named by its scope, which boundaries go by', () => {
      expect(Object.keys(targets)).toContain('build');
      expect(tags).toEqual(expect.arrayContaining(['type:app', `scope:${path.basename(folder)}`]));
    });
  }
});
