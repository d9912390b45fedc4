/** Tests what follows an installation: unused files are deleted, and an old Node gets the pinned one. */
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { repositoryRoot } from './repository.ts';

let folder: string;
const place = (file: string): string => path.join(folder, file);
function write(file: string, text = ''): void {
  fs.mkdirSync(path.dirname(place(file)), { recursive: true });
  fs.writeFileSync(place(file), text);
}

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), 'prepare-'));
  for (const file of ['tools/dev/run.mjs', 'tools/dev/node/package-lock.json', 'package.json'])
    fs.cpSync(path.join(repositoryRoot, file), place(file));
  write('node_modules/.bin/jest');
  // Replaces npm by a program that installs the package in question, and counts its runs.
  write(
    'npm.cjs',
    `const { cpSync, appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
     const name = 'node_modules/node-' + process.platform + '-' + process.arch;
     mkdirSync(name + '/bin', { recursive: true });
     writeFileSync(name + '/bin/node', '');
     cpSync('package-lock.json', 'node_modules/.package-lock.json');
     appendFileSync('runs', process.argv[2] + ' ');`,
  );
});
afterEach(() => {
  fs.rmSync(folder, { recursive: true });
});

/** Runs `prepare` as a Node that claims to have the given version and place. */
function prepare(version: string, program = 'own/node'): void {
  fs.mkdirSync(path.dirname(place(program)), { recursive: true });
  fs.rmSync(place(program), { force: true });
  fs.symlinkSync(process.execPath, place(program));
  const values = JSON.stringify({
    versions: { ...process.versions, node: version },
    execPath: place(program),
  });
  const claim = `const values = ${values};
    for (const name in values) Object.defineProperty(process, name, { value: values[name] });`;
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(claim)}`];
  execFileSync(process.execPath, [...preload, 'tools/dev/run.mjs', 'prepare'], {
    cwd: folder,
    env: { ...process.env, npm_execpath: place('npm.cjs') },
  });
}

it('deletes files that nothing reads, but none of the workspace', () => {
  write('libs/board/README.md');
  fs.symlinkSync(place('libs/board'), place('node_modules/board'));
  const unused = ['zod/index.js.map', 'zod/README.md', 'js-tiktoken/dist/ranks/gpt2.js'];
  const used = ['zod/index.js', 'zod/LICENSE.md', 'js-tiktoken/dist/ranks/o200k_base.js', 'board/README.md'];
  for (const file of [...unused, ...used.slice(0, 3)]) write(`node_modules/${file}`);
  prepare('24.21.0');
  expect([...unused, ...used].filter((file) => fs.existsSync(place(`node_modules/${file}`)))).toEqual(used);
});

/** npm has no Node for other systems. */
const onLinux = process.platform === 'linux' ? it : it.skip;

onLinux('installs the pinned Node once, and only for an older one', () => {
  const link = 'node_modules/.bin/node';
  prepare('24.21.0');
  expect([fs.existsSync(place(link)), fs.existsSync(place('tools/dev/node/runs'))]).toEqual([false, false]);
  prepare('20.19.0');
  prepare('24.10.0');
  expect([fs.existsSync(place(link)), fs.readFileSync(place('tools/dev/node/runs'), 'utf8')]).toEqual([
    true,
    'ci ',
  ]);

  // An installation deletes the link, also one that the pinned Node runs.
  fs.rmSync(place(link));
  prepare('24.21.0', `tools/dev/node/node_modules/node-linux-${process.arch}/bin/node`);
  expect(fs.existsSync(place(link))).toBe(true);
});
