// Tests the shipped bundle alone in an empty folder, outside of the repository.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { cloneDatabase, type TestDatabase } from '@muster/testing';
import { mainFile } from './muster.ts';

const run = promisify(execFile);

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await cloneDatabase();
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-bundle-')));
  await cp(path.dirname(mainFile), folder, { recursive: true });
});
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const muster = (...args: string[]) =>
  run(process.execPath, ['main.js', ...args], {
    cwd: folder,
    env: {
      DATABASE_URL: database.url,
      HOME: folder,
      MUSTER_BASE_URL: 'http://127.0.0.1:1',
      MUSTER_TOKEN: 'none',
    },
  });

it('finds the migrations beside it', async () => {
  // All migrations are already applied in the template database. The migrator could not recognize them
  // without their files.
  expect(JSON.parse((await muster('admin', 'migrate', '--json')).stdout)).toEqual({ applied: [] });
});

it('has operations, completion and what the operators need', async () => {
  // A call without an answer is retried for a while.
  const call = muster('session', 'identity').catch((error: unknown) => error);
  expect((await muster('stories', 'create', '--help')).stdout).toContain(
    "muster stories create WEB 'Sign in with a passkey'",
  );
  expect((await muster('completion', 'bash')).stdout).toContain('complete -o default -F _muster muster');
  expect((await muster('admin', 'org', 'list')).stdout).toBe('None.\n');
  expect(await call).toMatchObject({ code: 4, stderr: expect.stringContaining('no answer') });
});

it('starts by a small file, and keeps the rest to what Node compiles once', async () => {
  const { size } = await stat(path.join(folder, 'main.js'));
  expect(size).toBeLessThan(20_000);
});
