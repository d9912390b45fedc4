// The shipped bundle, alone in an empty folder without the repository.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { useWorld } from '@muster/testing';

const run = promisify(execFile);
const workspaceRoot = path.resolve(import.meta.dirname, '../../..');

const world = useWorld({});

let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-bundle-')));
  await run(process.execPath, ['tools/build/build-app.ts', 'apps/coordination-api', folder], {
    cwd: workspaceRoot,
  });
});
afterAll(() => rm(folder, { recursive: true }));

const inFolder = (more: Record<string, string> = {}) => ({
  cwd: folder,
  env: { DATABASE_URL: world.database.url, ...more },
});

it('serves whoever brings a token', async () => {
  const { ana } = await world.org();

  const server = spawn(process.execPath, ['main.js'], {
    ...inFolder({ PORT: '0', METRICS_PORT: '0', HOST: '127.0.0.1' }),
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
      headers: { authorization: `Bearer ${ana.me.token}` },
    });
    expect({ status: identity.status, body: await identity.text() }).toEqual({
      status: 200,
      body: expect.stringContaining('ana@example.com'),
    });
  } finally {
    server.kill('SIGTERM');
  }
  expect(await exited).toEqual([0, null]);
});
