// Tests which bundles specs start instead of sources, and that such bundles are never outdated. The tests use
// a workspace of one app.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import path from 'node:path';
import { mapToSources } from '@muster/testing/bundles';
import { builtApps } from './built-apps.ts';
import { createTrialWorkspace, type TrialWorkspace } from './trial-workspace.ts';

/** The bundle prints the same as the sources. Outside of Nx there may be no bundle. */
const spec = `import { expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';

const said = (file: string) => execFileSync(process.execPath, [file], { encoding: 'utf8' });
it('starts what it was built from', () => {
  expect(process.env['BUILT_APPS']).toBe('greeter');
  expect(said('dist/apps/greeter/main.js')).toBe(said('apps/greeter/src/main.ts'));
});
it('starts sources outside of Nx', () => expect(process.env['BUILT_APPS']).toBe(''));
`;

const test = { dependsOn: ['build', '@muster/greeter:build', '@muster/sums:typecheck'] };

let workspace: TrialWorkspace;

beforeAll(async () => {
  workspace = await createTrialWorkspace({
    realProjects: false,
    files: {
      'apps/greeter/package.json': JSON.stringify({
        ...{ name: '@muster/greeter', version: '0.0.0', private: true, type: 'module' },
        nx: { targets: { build: {}, test: { dependsOn: ['build'] } } },
      }),
      'apps/greeter/src/main.ts': `const who: string = 'Ana';
if (process.argv[2] === 'fail') {
  throw new Error('nobody is there');
}
console.log(who);
`,
      'apps/greeter/src/main.spec.ts': spec,
      'tools/tried/project.json': JSON.stringify({ targets: { test } }),
      'tools/plain/project.json': JSON.stringify({ targets: { test: {} } }),
      'dist/apps/greeter/main.js': `console.log('an old one');`,
    },
  });
});
afterAll(() => workspace.remove());

it.each([
  { project: 'apps/greeter', byNx: true, apps: ['greeter'] },
  { project: 'tools/tried', byNx: true, apps: ['tried', 'greeter'] },
  { project: 'tools/plain', byNx: true, apps: [] },
  { project: 'tools/absent', byNx: true, apps: [] },
  { project: 'apps/greeter', byNx: false, apps: [] },
])('$project, by Nx: $byNx, may start the bundles of $apps', async ({ project, byNx, apps }) => {
  const environment = byNx ? { NX_TASK_TARGET_TARGET: 'test' } : {};
  expect(await builtApps(path.join(workspace.root, project), environment)).toEqual(apps);
});

it('an old bundle is made anew before a spec can start it', async () => {
  const jest = ['--', '--testNamePattern', 'built from'];
  const { exitCode, stdout, stderr } = await workspace.run('nx', ['test', 'greeter', ...jest]);
  expect({ exitCode, said: stdout + stderr }).toEqual({
    exitCode: 0,
    said: expect.stringContaining('1 passed'),
  });
});

it('what a bundle says of a failure leads to its sources', async () => {
  const { stderr } = await workspace.run('node', ['dist/apps/greeter/main.js', 'fail']);
  expect(stderr).toMatch(/main\.js:\d+:\d+/);
  expect(mapToSources(stderr)).toContain('apps/greeter/src/main.ts:3:9');
  expect(mapToSources('/nowhere/main.js:1:2')).toBe('/nowhere/main.js:1:2');
});

it('without Nx no bundle is said to be there', async () => {
  const { stderr } = await workspace.run('node', [
    ...['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '-c', 'jest.config.js'],
    ...['--rootDir', 'apps/greeter', '--testNamePattern', 'outside of Nx'],
  ]);
  expect(stderr).toContain('1 passed');
});
