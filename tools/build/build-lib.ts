// node tools/build/build-lib.ts <projectRoot> [outputFolder]
// Builds a library for others to install: JavaScript and types in a package of its own, nothing of the repository.
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';

const workspaceRoot = path.resolve(import.meta.dirname, '../..');
const [projectRoot, outputFolder] = process.argv.slice(2);
if (projectRoot === undefined) throw new Error('usage: build-lib.ts <projectRoot> [outputFolder]');
const root = path.resolve(workspaceRoot, projectRoot);
const outdir = path.resolve(workspaceRoot, outputFolder ?? path.join('dist', projectRoot));

await rm(outdir, { recursive: true, force: true });
const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript')), 'tsc.js');
await promisify(execFile)(process.execPath, [
  tsc,
  '-p',
  path.join(root, 'tsconfig.build.json'),
  '--outDir',
  outdir,
]);

const { name, version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
  name: string;
  version: string;
};
const manifest = {
  ...{ name, version, type: 'module', engines: { node: '>=18' }, sideEffects: false },
  exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
};
await writeFile(path.join(outdir, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
