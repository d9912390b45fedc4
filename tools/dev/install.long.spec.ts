/** Tests the terminal output of an installation of packages, and its end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { isRunning } from './foreign-process.ts';

const script = '/usr/bin/script';
/** Skips tests that need a terminal unless the program `script` of util-linux is installed on Linux. */
const onTerminal = process.platform === 'linux' && existsSync(script) ? it : it.skip;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'install-'));
  await mkdir(path.join(folder, 'tools/dev'), { recursive: true });
  await copyFile(path.join(import.meta.dirname, 'run.mjs'), path.join(folder, 'tools/dev/run.mjs'));
  await writeFile(path.join(folder, 'package-lock.json'), '{"packages": {}}');
  // Replaces npm by a program that runs until it is ended.
  await writeFile(
    path.join(folder, 'npm.cjs'),
    `require('node:fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000);`,
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const inOneLine = /(?:\r {2}… still installing \(\d+ s\)){2}/;

onTerminal('shows the seconds of an installation in one line, and Ctrl-C ends it', async () => {
  const line = [process.execPath, path.join(folder, 'tools/dev/run.mjs'), 'generate'].join(' ');
  const child = spawn(script, ['-qec', line, '/dev/null'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], TERM: 'xterm', npm_execpath: path.join(folder, 'npm.cjs') },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let shown = '';
  await new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
      if (inOneLine.test(shown)) resolve();
    });
  });
  const npm = Number(await readFile(path.join(folder, 'pid'), 'utf8'));
  expect(isRunning(npm)).toBe(true);
  child.stdin.write('\u0003');
  expect(await ended).toEqual([130, null]);
  expect(isRunning(npm)).toBe(false);
});
