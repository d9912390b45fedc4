// Tests omissions in a manifest that Nx and lint silently ignore.
import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const workspaceRoot = path.resolve(import.meta.dirname, '../../..');

interface NxConfig {
  tags: string[];
  targets: Record<string, unknown>;
}

interface Project extends NxConfig {
  folder: string;
}

function read(folder: string): Project {
  const ofNx = path.join(workspaceRoot, folder, 'project.json');
  const text = readFileSync(
    existsSync(ofNx) ? ofNx : path.join(workspaceRoot, folder, 'package.json'),
    'utf8',
  );
  const parsed = JSON.parse(text) as NxConfig & { nx?: NxConfig };
  const { tags, targets } = parsed.nx ?? parsed;
  return { folder, tags, targets };
}

/** Lists the folders of tools that are projects. The other folders belong to the project `tools`. */
function toolFolders(): string[] {
  const ofTools = new Set(['build', 'dev', 'jest', 'workspace']);
  return readdirSync(path.join(workspaceRoot, 'tools'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !ofTools.has(entry.name))
    .map(({ name }) => `tools/${name}`);
}

const projects = ['apps', 'libs']
  .flatMap((parent) => readdirSync(path.join(workspaceRoot, parent)).map((name) => `${parent}/${name}`))
  .concat('tools', ...toolFolders())
  .map(read);

describe.each(projects)('$folder', ({ folder, tags, targets }) => {
  it('has exactly one type', () => {
    expect(tags.filter((tag) => tag.startsWith('type:'))).toHaveLength(1);
  });

  it('is linted and type-checked, and tested in a tier unless other projects test it', () => {
    const names = Object.keys(targets);
    expect(names).toEqual(expect.arrayContaining(['lint', 'typecheck']));
    const isTested = names.includes('test') || names.includes('long');
    // The laws of all operations are specs of libs/registry.
    expect(isTested).toBe(!tags.includes('type:testing') && !tags.includes('type:domain-registry'));
  });

  if (folder.startsWith('apps/'))
    it('is built if it is a program, and named by its scope, which boundaries go by', () => {
      const isProgram = existsSync(path.join(workspaceRoot, folder, 'src/main.ts'));
      expect(Object.keys(targets).includes('build')).toBe(isProgram);
      expect(tags).toEqual(expect.arrayContaining(['type:app', `scope:${path.basename(folder)}`]));
    });
});
