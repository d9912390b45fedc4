// Tests the whole of npm test on a workspace of one lib.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTrialWorkspace, type TrialWorkspace } from './trial-workspace.ts';

const spec = (assertion: string): string => `import { expect, it } from '@jest/globals';
import { two } from './index.ts';

it('adds', () => ${assertion});
it('is there', () => expect(two).toBeDefined());
`;

let workspace: TrialWorkspace;

beforeAll(async () => {
  workspace = await createTrialWorkspace({
    realProjects: false,
    files: {
      'libs/sums/package.json': `${JSON.stringify(
        {
          name: '@muster/sums',
          version: '0.0.0',
          private: true,
          type: 'module',
          exports: './src/index.ts',
          nx: { tags: ['type:contract'], targets: { test: {} } },
        },
        undefined,
        2,
      )}\n`,
      'libs/sums/tsconfig.json': '{ "extends": "../../tsconfig.base.json", "include": ["src"] }\n',
      'libs/sums/src/index.ts': 'export const two = 1 + 1;\n',
      'libs/sums/src/index.spec.ts': spec('expect(two).toBe(2)'),
      'tools/workspace/project.json': `${JSON.stringify({
        name: 'workspace',
        targets: {
          'lint-all': {
            command: 'oxlint libs',
            inputs: ['{workspaceRoot}/**/*'],
            cache: true,
          },
          'typecheck-all': {
            command: 'node node_modules/typescript-7/bin/tsc -p libs/sums/tsconfig.json',
            inputs: ['{workspaceRoot}/**/*'],
            cache: true,
          },
          format: { command: 'oxfmt --check libs', inputs: ['{workspaceRoot}/**/*'], cache: true },
        },
      })}\n`,
    },
  });
});
afterAll(() => workspace.remove());

async function npmTest(): Promise<{ exitCode: number; lastLine: string | undefined; output: string }> {
  const { exitCode, stdout, stderr } = await workspace.run('node', ['tools/dev/test.ts'], { CI: 'true' });
  const output = stdout + stderr;
  return { exitCode, lastLine: stdout.trimEnd().split('\n').at(-1), output };
}

it('counts tests and tasks, and counts them again when all of it is cached', async () => {
  expect(await npmTest()).toMatchObject({ exitCode: 0, lastLine: '5 passed, 0 failed' });
  const again = await npmTest();
  expect(again).toMatchObject({ exitCode: 0, lastLine: '5 passed, 0 failed' });
  expect(again.output).toContain('4 out of 4 tasks');
});

it('shows what failed, and counts a test, a type error, a lint error and a badly formatted file', async () => {
  await workspace.write({
    'libs/sums/src/index.ts': `export const two   = 'two';
export const three: number = 'three';
Promise.resolve(three);
`,
  });
  const failed = await npmTest();
  expect(failed).toMatchObject({ exitCode: 1, lastLine: '1 passed, 4 failed' });
  // A lint rule that needs types.
  expect(failed.output).toContain('no-floating-promises');
  expect(failed.output).toContain('Expected: 2');
});

it('fails when nothing is tested', async () => {
  await workspace.write({
    'libs/sums/package.json': '{ "name": "@muster/sums", "nx": { "targets": {} } }\n',
    'libs/sums/src/index.ts': 'export const two = 2;\n',
    'libs/sums/src/index.spec.ts': '\n',
  });
  const { exitCode, output } = await npmTest();
  expect(exitCode).toBe(1);
  expect(output).toContain('not one test ran');
});

it('does not count what an earlier run left', async () => {
  await workspace.write({ 'nx.json': '{' });
  expect(await npmTest()).toMatchObject({ exitCode: 1, lastLine: '0 passed, 2 failed' });
});
