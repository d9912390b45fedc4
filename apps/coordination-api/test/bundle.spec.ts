// What ships: the bundle alone in an empty folder, with nothing of the repository around it.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { cloneDatabase, type TestDatabase } from '@muster/testing';

const run = promisify(execFile);
const workspaceRoot = path.resolve(import.meta.dirname, '../../..');

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await cloneDatabase();
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-bundle-')));
  await run(process.execPath, ['tools/build/build-app.ts', 'apps/coordination-api', folder], {
    cwd: workspaceRoot,
  });
});
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const inFolder = (more: Record<string, string> = {}) => ({
  cwd: folder,
  env: { DATABASE_URL: database.url, ...more },
});

async function muster(...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, ['cli.js', ...args], inFolder());
  return stdout;
}

it('makes a token on its command line and serves whoever brings it', async () => {
  await muster(
    'org',
    'create',
    '--slug',
    'acme',
    '--name',
    'Acme',
    '--owner-email',
    'ana@acme.example',
    '--owner-name',
    'Ana',
  );
  const made = await muster(
    'token',
    'create',
    '--org',
    'acme',
    '--member',
    'ana@acme.example',
    '--name',
    'laptop',
    '--scopes',
    'read',
  );
  const token = /must_live_\w+/.exec(made)?.[0] ?? '';

  const server = spawn(process.execPath, ['main.js'], {
    ...inFolder({ PORT: '0', HOST: '127.0.0.1' }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(server, 'exit');
  try {
    let address = '';
    for await (const line of createInterface(server.stdout)) {
      const logged = JSON.parse(line) as { msg: string; address?: string };
      if (logged.msg === 'listening') {
        address = logged.address ?? '';
        break;
      }
    }
    const ready = await fetch(new URL('/readyz', address));
    expect(ready.status).toBe(200);
    const identity = await fetch(new URL('/api/session/identity', address), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    expect({ status: identity.status, body: await identity.text() }).toEqual({
      status: 200,
      body: expect.stringContaining('ana@acme.example'),
    });
  } finally {
    server.kill('SIGTERM');
  }
  expect(await exited).toEqual([0, null]);
});

it('finds the migrations beside it', async () => {
  // All are applied in the template; without their files the migrator would not know what these were.
  expect(JSON.parse(await muster('migrate', '--json'))).toEqual({ applied: [] });
});
