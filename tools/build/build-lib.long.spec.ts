// Tests the package that people install: any Node since version 18 can load it, and any project can read its
// types.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
/** A foreign project outside this repository. */
let project: string;
let installed: string;

beforeAll(async () => {
  project = await mkdtemp(path.join(tmpdir(), 'muster-build-lib-'));
  installed = path.join(project, 'node_modules/@muster/license-client');
  await mkdir(path.dirname(installed), { recursive: true });
  await run(process.execPath, ['tools/build/build-lib.ts', 'libs/license-client', installed], { cwd: root });
});
afterAll(() => rm(project, { recursive: true }));

it('has JavaScript and types, no TypeScript, no specs, and stands alone', async () => {
  const files = await readdir(installed);
  expect(files).toEqual(expect.arrayContaining(['index.js', 'index.d.ts', 'package.json']));
  expect(
    files.filter(
      (file) =>
        !/\.(js|d\.ts)$|^(package\.json|LICENSE|NOTICE|README\.md|CHANGELOG\.md)$/.test(file) ||
        /\.spec\./.test(file),
    ),
  ).toEqual([]);
  for (const file of files.filter((one) => one.endsWith('.js'))) {
    const code = await readFile(path.join(installed, file), 'utf8');
    for (const [, name] of code.matchAll(/\bfrom ["']([^"']+)["']/g))
      expect(name).toMatch(/^(node:|\.\/[a-z-]+\.js$)/);
  }
});

it('runs in a Node that knows no TypeScript', async () => {
  const file = path.join(project, 'app.mjs');
  await writeFile(
    file,
    `import { createLicenseClient } from '@muster/license-client';
    const client = createLicenseClient({
      url: 'http://127.0.0.1:1', product: 'demo', folder: ${JSON.stringify(project)}, machineId: 'm', patienceSeconds: 0,
    });
    console.log(JSON.stringify([await client.activate('key'), await client.check()]));`,
  );
  const { stdout, stderr } = await run(process.execPath, ['--no-experimental-strip-types', file]);
  expect([JSON.parse(stdout), stderr]).toEqual([
    [
      expect.objectContaining({ mayRun: false, reason: 'unreachable' }),
      expect.objectContaining({ mayRun: false, reason: 'no_license' }),
    ],
    '',
  ]);
});

it('has types that say what may be done, without the types of Node', async () => {
  await writeFile(path.join(project, 'package.json'), '{ "type": "module" }');
  const program = (
    more: string,
  ): string => `import { createLicenseClient, type Standing } from '@muster/license-client';
    export async function plan(): Promise<string> {
      const client = createLicenseClient({ url: 'https://example.com', product: 'demo' });
      const standing: Standing = await client.check();
      ${more}
      return standing.mayRun ? standing.plan : standing.message;
    }`;
  await writeFile(path.join(project, 'good.ts'), program(''));
  await writeFile(path.join(project, 'bad.ts'), program('standing.plan;'));
  const tsc = createRequire(import.meta.url)
    .resolve('typescript')
    .replace('typescript.js', 'tsc.js');
  const compilerOptions = { noEmit: true, strict: true, target: 'es2022', module: 'nodenext', types: [] };
  const config = path.join(project, 'tsconfig.json');
  await writeFile(config, JSON.stringify({ compilerOptions, files: ['good.ts', 'bad.ts'] }));
  const { stdout } = await run(process.execPath, [tsc, '--pretty', 'false', '-p', config], {
    cwd: project,
  }).catch((error: unknown) => error as { stdout: string });
  expect(stdout).toContain("'plan' does not exist");
  expect(stdout.match(/^\S+\.ts(?=\()/gm)).toEqual(['bad.ts']);
});
